import { ApiError } from '#core/error.ts'
import type { Metric } from '../evaluation-metrics/contract.ts'
import { isYes } from './consent.ts'
import { estimate, inWords, type Plan } from './estimate.ts'
import type { FoundModel, Selection } from './resolve.ts'

export interface Preview extends Plan {
  run_name: string
  dataset: { name: string; uuid?: string | undefined }
  judge_name: string | undefined
}

/** What a person is shown before a run starts; nothing exists yet. */
export const previewOf = (preview: Preview) => {
  const guess = estimate(preview)
  const { run_name, dataset, candidate, judge, judge_name, metrics } = preview
  const prompt_for_user = [
    `Start the model evaluation "${run_name}"?`,
    `Candidate: ${candidate?.display_name}. Judge: ${judge_name ?? 'none (computed metrics only)'}.`,
    `Dataset: ${dataset.name}, ${guess.rows} rows.`,
    `Metrics: ${metrics.map((metric) => metric.metric_name).join(', ')}.`,
    inWords(guess),
    'Reply "yes" to start it.',
  ].join('\n')
  return {
    status: 'consent_required',
    message:
      'Nothing was started. Show prompt_for_user to the end user, wait for the reply, and call again with the same arguments and user_message set to it.',
    prompt_for_user,
    run_name,
    ...(dataset.uuid && { dataset_uuid: dataset.uuid }),
    metric_uuids: metrics.map((metric) => metric.metric_uuid),
    candidate_model: shown(candidate),
    judge_model: shown(judge),
    estimate: guess,
  }
}

/** The preview while there is no yes; undefined when the run may start. */
export const unlessAgreed = (user_message: string | undefined, preview: () => Preview) => {
  if (user_message !== undefined && isYes(user_message)) return undefined
  const asked = previewOf(preview())
  if (user_message === undefined || user_message.trim() === '') return asked
  return {
    ...asked,
    status: 'not_started',
    message: `Nothing was started: the reply ${JSON.stringify(user_message)} is not a yes.`,
  }
}

const shown = (model: FoundModel | undefined) =>
  model && {
    uuid: model.uuid,
    display_name: model.display_name,
    api_name: model.api_name,
    source: model.source,
  }

/** The answer to a name that is not exact. */
export const selectionRequired = (...selections: Selection[]) => ({
  status: 'model_selection_required',
  message: 'Nothing was started: a model name is not exact. Choose from the matches.',
  ...Object.fromEntries(selections.map((selection) => [selection.role, selection])),
})

/** Refuses uuids that are no metrics; none given means all. */
export const pickMetrics = (all: readonly Metric[], uuids: readonly string[] = []): Metric[] => {
  const unknown = uuids.filter((uuid) => !all.some((metric) => metric.metric_uuid === uuid))
  if (unknown.length > 0)
    throw ApiError.invalid(`metric_uuids names no metrics: ${unknown.join(', ')}`)
  return all.filter(({ metric_uuid }) => uuids.length === 0 || uuids.includes(metric_uuid))
}
