import { text } from '#mcp/args.ts'
import { script, type ToolContext } from '#mcp/tool.ts'
import { datasets } from '../evaluation-datasets/contract.ts'
import { checkFile, undoUpload, uploadDataset } from '../evaluation-datasets/upload.ts'
import { metrics } from '../evaluation-metrics/contract.ts'
import { pollUntilOver, secondsSince, type Timing, timing } from '../evaluation-runs/poll.ts'
import { isFinal } from '../evaluation-runs/record.ts'
import { StepFailure, workflow } from '../steps.ts'
import { modelEvaluations, modelRunPrefix, type RunDetail } from './contract.ts'
import { pickMetrics, selectionRequired, unlessAgreed } from './preview.ts'
import {
  candidateOf,
  type FoundModel,
  isSelection,
  knownModels,
  modelOperations,
  resolveModel,
} from './resolve.ts'
import { runArgs } from './run-args.ts'

export const modelWorkflowTools = {
  'genai-model-eval-run-workflow': script({
    title: 'Evaluate model',
    about:
      'Upload a dataset, evaluate a model on it and wait for the scores; the first call only returns prompt_for_user to show to the user.',
    args: {
      dataset_file_path: text('.csv or .jsonl with input (and ground_truth)'),
      name: text('Run name'),
      ...runArgs,
      judge_model_name: text('Exact name'),
      ...timing,
    },
    effect: 'create',
    uses: [
      ...modelOperations,
      metrics.listForModels,
      datasets.presignForModels,
      datasets.create,
      modelEvaluations.create,
      modelEvaluations.get,
    ],
    run: async (a, context) => {
      const started = performance.now()
      const { step, facts } = workflow()
      const file = await step(1, () => checkFile(a.dataset_file_path, 'model'))
      const [candidate, judge] = await step(2, async () => {
        const known = await knownModels(context)
        const wish = (role: 'candidate' | 'judge') => ({
          role,
          name: a[`${role}_model_name`],
          uuid: a[`${role}_model_uuid`],
        })
        return [
          await resolveModel(context, known, wish('candidate')),
          await resolveModel(context, known, wish('judge')),
        ] as const
      })
      const open = [candidate, judge].filter(isSelection)
      if (open.length > 0) return selectionRequired(...open)
      const models = { candidate: candidate as FoundModel, judge: judge as FoundModel }

      const chosen = await step(3, async () =>
        pickMetrics((await context.api(metrics.listForModels, {})).metrics, a.metric_uuids),
      )
      const asked = unlessAgreed(a.user_message, () => ({
        run_name: a.name,
        dataset: { name: file.name },
        rows: file.rows,
        characters: file.input_characters / file.rows,
        has_ground_truth: file.has_ground_truth,
        metrics: chosen,
        ...models,
        judge_name: models.judge.display_name,
        max_tokens: a.candidate_inference_config?.max_tokens,
      }))
      if (asked) return asked

      const { dataset_uuid } = await step(4, () =>
        uploadDataset(context, file, { name: `${a.name}-dataset`, use: 'model' }),
      )
      facts.dataset_uuid = dataset_uuid
      const [star] = chosen
      const { eval_run_uuid } = await step(5, () =>
        context
          .api(modelEvaluations.create, {
            body: {
              name: a.name,
              ...candidateOf(models.candidate),
              candidate_inference_config: a.candidate_inference_config,
              dataset_uuid,
              judge_model_uuid: models.judge.uuid,
              metric_uuids: chosen.map((metric) => metric.metric_uuid),
              ...(star && {
                star_metric: {
                  metric_uuid: star.metric_uuid,
                  name: star.metric_name,
                  success_threshold_pct: 80,
                },
              }),
              source: 'mcp',
            },
          })
          .catch((error) =>
            undoUpload(context, dataset_uuid, error, () => delete facts.dataset_uuid),
          ),
      )
      facts.eval_run_uuid = eval_run_uuid
      const run = await step(6, () => lastState(context, a, eval_run_uuid))
      if (!run) throw new StepFailure('step 6: evaluation polling timed out', facts)
      return {
        eval_run_uuid,
        status: run.status,
        metric_results: (run.result_summary?.metric_summaries ?? []).map(
          ({ metric_name, pass_percent }) => ({ metric_name, number_value: pass_percent }),
        ),
        duration_seconds: secondsSince(started),
        error_message: run.error_description ?? '',
      }
    },
  }),
}

const lastState = (context: ToolContext, limits: Timing, eval_run_uuid: string) =>
  pollUntilOver<RunDetail>(context, limits, {
    look: async () => {
      const query = { page: 1, per_page: 1 }
      const { run } = await context.api(modelEvaluations.get, { path: { eval_run_uuid }, query })
      return run
    },
    over: (run) => isFinal(run.status.replace(modelRunPrefix, '')),
    tell: ({ status, progress }) => ({
      done: (progress?.candidate_rows_evaluated ?? 0) + (progress?.judge_rows_evaluated ?? 0),
      total: 2 * (progress?.total_rows ?? 0),
      message: status,
    }),
  })
