import { flag, int, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { confirmed, prefixedChoice } from '../arguments.ts'
import { runStatuses } from '../evaluation-runs/record.ts'
import { named } from '../steps.ts'
import { modelEvaluations, modelRunPrefix, presets } from './contract.ts'

const eval_run_uuid = text('Run UUID')
const confirm_deletion = flag('true once the user agreed')

const paging = {
  page: int('Page number', 1).optional(),
  per_page: int('Page size', 1, 1000).optional(),
}

export const modelEvaluationTools = {
  'genai-model-eval-list-runs': named(
    'list model evaluation runs',
    call(modelEvaluations.list, {
      title: 'List model evaluation runs',
      about: 'List model evaluation runs, newest first.',
      args: {
        status: prefixedChoice('Only runs in this status', modelRunPrefix, runStatuses).optional(),
        ...paging,
      },
      request: ({ status, ...page }) => ({
        query: { ...page, ...(status && { status: `${modelRunPrefix}${status}` as const }) },
      }),
      result: (answer) => ({ ...answer, count: answer.runs.length }),
    }),
  ),

  'genai-model-eval-get-run': named(
    'get model evaluation run',
    call(modelEvaluations.get, {
      title: 'Get model evaluation run',
      about: 'Get a model evaluation run with a page of its per-prompt results.',
      args: { eval_run_uuid, ...paging },
      request: ({ eval_run_uuid, ...query }) => ({ path: { eval_run_uuid }, query }),
    }),
  ),

  'genai-model-eval-get-results-download-url': named(
    'get results download URL',
    call(modelEvaluations.resultsDownloadUrl, {
      title: 'Get results download URL',
      about: 'Get an expiring URL of all results of a run.',
      args: { eval_run_uuid },
      request: (a) => ({ path: a }),
    }),
  ),

  'genai-model-eval-delete-run': named(
    'delete model evaluation run',
    call(modelEvaluations.delete, {
      title: 'Delete model evaluation run',
      about: 'Delete a finished model evaluation run and its results for good.',
      args: { eval_run_uuid, confirm_deletion },
      request: (a) => {
        confirmed('confirm_deletion', a.confirm_deletion)
        return { path: { eval_run_uuid: a.eval_run_uuid } }
      },
      result: (answer, a) => ({ eval_run_uuid: a.eval_run_uuid, ...answer }),
    }),
  ),

  'genai-model-eval-cancel-run': named(
    'cancel model evaluation run',
    call(modelEvaluations.cancel, {
      title: 'Cancel model evaluation run',
      about: 'Stop a model evaluation run; partial results may be lost.',
      args: { eval_run_uuid, confirm_cancel: flag('true once the user agreed') },
      request: ({ eval_run_uuid, confirm_cancel }) => {
        confirmed('confirm_cancel', confirm_cancel)
        return { path: { eval_run_uuid }, body: { eval_run_uuid } }
      },
    }),
  ),

  'genai-model-eval-delete-preset': named(
    'delete model evaluation preset',
    call(presets.delete, {
      title: 'Delete evaluation preset',
      about: 'Delete an evaluation preset; runs that used it stay as they are.',
      args: { eval_preset_uuid: text('Preset UUID'), confirm_deletion },
      request: (a) => {
        confirmed('confirm_deletion', a.confirm_deletion)
        return { path: { eval_preset_uuid: a.eval_preset_uuid } }
      },
      result: (_answer, a) => ({ eval_preset_uuid: a.eval_preset_uuid, status: 'deleted' }),
    }),
  ),
}
