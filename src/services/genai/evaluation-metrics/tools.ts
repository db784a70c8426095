import { call } from '#mcp/tool.ts'
import { named } from '../steps.ts'
import { type Metric, metrics } from './contract.ts'

const counted = ({ metrics, ...rest }: { metrics: Metric[] }) => ({
  metrics,
  count: metrics.length,
  ...rest,
})

export const metricTools = {
  'genai-list-evaluation-metrics': named(
    'list evaluation metrics',
    call(metrics.listForAgents, {
      title: 'List agent metrics',
      about: 'List the metrics for agent evaluation.',
      args: {},
      request: () => ({}),
      result: counted,
    }),
  ),

  'genai-model-eval-list-metrics': named(
    'list model evaluation metrics',
    call(metrics.listForModels, {
      title: 'List model metrics',
      about: 'List the metrics for model evaluation.',
      args: {},
      request: () => ({}),
      result: counted,
    }),
  ),
}
