import { merge } from '#core/merge.ts'
import type { Tool } from '#mcp/tool.ts'
import { datasetTools } from './evaluation-datasets/tools.ts'
import { metricTools } from './evaluation-metrics/tools.ts'
import { evaluationRunTools } from './evaluation-runs/tools.ts'
import { evaluationWorkflowTools } from './evaluation-runs/tools-workflow.ts'
import { testCaseTools } from './evaluation-test-cases/tools.ts'
import { modelEvaluationTools } from './model-evaluations/tools.ts'
import { createRunTools } from './model-evaluations/tools-create.ts'
import { modelWorkflowTools } from './model-evaluations/tools-workflow.ts'

export const evaluationTools = merge<Tool>(
  metricTools,
  datasetTools,
  testCaseTools,
  evaluationRunTools,
  evaluationWorkflowTools,
  createRunTools,
  modelEvaluationTools,
  modelWorkflowTools,
)
