import { ApiError } from '#core/error.ts'
import type { Objects } from '#engines/objects/objects.ts'
import { timestamp } from '#platform/clock.ts'
import { genaiPageFacts, genaiPageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { rowResults } from '../evaluation-engine/results.ts'
import { findMetrics } from '../evaluation-metrics/custom.ts'
import {
  answerRecords,
  isFinal,
  type RunRecord,
  runRecords,
  stageOf,
} from '../evaluation-runs/record.ts'
import {
  candidateSources,
  modelEvaluations,
  modelRunPrefix,
  modelRunStatuses,
  type Preset,
  presets,
  type StoredPreset,
  storedPresets,
} from './contract.ts'
import { removeRows } from './remove.ts'
import { resultsKey, writeResults } from './results-file.ts'
import { newRun, presetOf } from './start.ts'
import { shownDetail, shownResult, shownSummary, sourceOf } from './view.ts'

export const modelEvaluationService =
  (objects: Objects): Service =>
  (on, { store, ids, clock }) => {
    const runs = store.collection(runRecords)
    const saved = store.collection(storedPresets)

    const find = async (uuid: string) => {
      const run = await runs.get(uuid)
      if (run?.kind !== 'model') throw ApiError.notFound(`Model evaluation run ${uuid}`)
      return run
    }
    const progressOf = async (run: RunRecord) => {
      const answers = store.collection(answerRecords)
      return {
        total_rows: run.dataset.rows,
        candidate_rows_evaluated: await answers.count({ run: run.uuid }),
        judge_rows_evaluated: await answers.count({ stage: stageOf(run.uuid, 'scored') }),
      }
    }
    const shown = async (run: RunRecord) => shownSummary(run, await progressOf(run))

    on(modelEvaluations.create, async ({ body }) => {
      const preset = body.eval_preset_uuid ? await saved.require(body.eval_preset_uuid) : undefined
      const identity = { uuid: ids.uuid(), created_at: timestamp(clock) }
      const run = await newRun(store, body, preset, identity)
      const made = presetOf(run, body, ids.uuid())
      await store.transaction(async (tx) => {
        if (made) await tx.collection(storedPresets).insert(made)
        await tx.collection(runRecords).insert(run)
      })
      return { eval_run_uuid: run.uuid }
    })

    on(modelEvaluations.list, async ({ query }) => {
      const all = await runs.list({ where: { kind: 'model' }, newestFirst: true })
      const statuses = query.status ? [query.status] : query.statuses
      const search = query.search?.toLowerCase()
      const wanted = all.filter(
        (run) =>
          (!statuses?.length || statuses.includes(`${modelRunPrefix}${run.status}`)) &&
          (!query.candidate_types?.length || query.candidate_types.includes(sourceOf(run))) &&
          (!query.eval_preset_uuid || run.preset_uuid === query.eval_preset_uuid) &&
          (!search || `${run.name}\n${run.candidate.name}`.toLowerCase().includes(search)),
      )
      if (query.sort_by === 'MODEL_EVALUATION_RUN_SORT_FIELD_STATUS') {
        wanted.sort((a, b) => a.status.localeCompare(b.status))
      } else if (query.sort_direction === 'SORT_DIRECTION_ASC') wanted.reverse()
      const { runs: page, ...facts } = genaiPageOfItems('runs', wanted, query)
      return {
        runs: await Promise.all(page.map(shown)),
        ...facts,
        available_statuses: [...modelRunStatuses],
        available_candidate_types: [...candidateSources],
      }
    })

    on(modelEvaluations.get, async ({ path, query }) => {
      const run = await find(path.eval_run_uuid)
      const from = (query.page - 1) * query.per_page
      const rows = await rowResults(store, run, from, from + query.per_page)
      return {
        run: shownDetail(run, await progressOf(run)),
        results: rows.map(shownResult),
        ...genaiPageFacts(run.dataset.rows, query),
      }
    })

    on(modelEvaluations.update, async ({ path, body: { name, max_cost_usd } }) => {
      await find(path.eval_run_uuid)
      const changed = await runs.update(path.eval_run_uuid, (run) => {
        const { suspended: _over, ...rest } = run
        return {
          ...(max_cost_usd === undefined ? run : rest),
          ...(name !== undefined && { name }),
          ...(max_cost_usd !== undefined && { limits: { ...run.limits, max_cost_usd } }),
        }
      })
      return { run: await shown(changed) }
    })

    on(modelEvaluations.cancel, async ({ path }) => {
      await find(path.eval_run_uuid)
      const changed = await runs.update(path.eval_run_uuid, (run) => {
        if (isFinal(run.status)) {
          throw ApiError.conflict(`The run is ${run.status} already; there is nothing to cancel.`)
        }
        const { suspended: _over, ...rest } = run
        return { ...rest, status: 'CANCELLING' }
      })
      return { run: await shown(changed) }
    })

    on(modelEvaluations.delete, async ({ path }) => {
      const run = await find(path.eval_run_uuid)
      if (!isFinal(run.status)) {
        throw ApiError.conflict(`The run is ${run.status}; cancel it or wait for its end.`)
      }
      await removeRows(store, run)
      await objects.remove(resultsKey(run.uuid))
      await runs.remove(run.uuid)
      return { status: 'DELETE_MODEL_EVALUATION_RUN_STATUS_SUCCESS' as const }
    })

    on(modelEvaluations.resultsDownloadUrl, async ({ path }) => {
      const run = await find(path.eval_run_uuid)
      if (!isFinal(run.status)) {
        throw ApiError.conflict(`The run is ${run.status}; its results can be fetched at its end.`)
      }
      await writeResults(store, objects, run)
      const { url, expires_at } = objects.sign('GET', resultsKey(run.uuid))
      return { download_url: url, expires_at }
    })

    const shownPreset = async (preset: StoredPreset): Promise<Preset> => ({
      eval_preset_uuid: preset.eval_preset_uuid,
      name: preset.name,
      saved_sections: preset.saved_sections,
      ...(preset.dataset && {
        dataset_uuid: preset.dataset.uuid,
        dataset_name: preset.dataset.name,
      }),
      ...(preset.judge && {
        judge_model_uuid: preset.judge.uuid,
        judge_model_name: preset.judge.name,
      }),
      ...(preset.candidate && {
        candidate_model_name: preset.candidate.name,
        candidate_model_uuid: preset.candidate.uuid,
        candidate_model_source: preset.candidate.source as Preset['candidate_model_source'],
      }),
      ...(preset.inference && { candidate_inference_config: preset.inference }),
      ...(preset.system_prompt && { candidate_system_prompt: preset.system_prompt }),
      ...(preset.metric_uuids && {
        metrics: await findMetrics(store, 'MODEL', preset.metric_uuids),
      }),
      ...(preset.star_metric && { star_metric: preset.star_metric }),
      created_at: preset.created_at,
    })

    on(presets.list, async () => ({
      presets: await Promise.all((await saved.list({ newestFirst: true })).map(shownPreset)),
    }))
    on(presets.get, async ({ path }) => ({
      preset: await shownPreset(await saved.require(path.eval_preset_uuid)),
    }))
    on(presets.delete, async ({ path }) => {
      await saved.require(path.eval_preset_uuid)
      await saved.remove(path.eval_preset_uuid)
      return {}
    })
  }
