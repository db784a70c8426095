import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { storedPresets } from '../model-evaluations/contract.ts'
import { builtInMetrics } from './catalogue.ts'
import { type Metric, metrics } from './contract.ts'
import { customMetrics } from './custom.ts'

export const metricService: Service = (on, { store, ids, clock }) => {
  const table = store.collection(customMetrics)
  const presets = store.collection(storedPresets)

  /** Custom metrics judge a prompt and its response, so they serve models and agents alike. */
  const customs = async (scope: 'AGENT' | 'MODEL') => {
    const saved = await presets.list()
    return (await table.list({ where: { deleted: false } })).map(({ metric }) => {
      const associated_presets = saved
        .filter(({ metric_uuids }) => metric_uuids?.includes(metric.metric_uuid))
        .map(({ eval_preset_uuid, name }) => ({ eval_preset_uuid, name }))
      return { ...metric, evaluation_scope: `EVALUATION_SCOPE_${scope}`, associated_presets }
    })
  }
  const listed = async (scope: 'AGENT' | 'MODEL') => ({
    metrics: [...builtInMetrics(scope), ...(await customs(scope))],
  })

  on(metrics.listForAgents, () => listed('AGENT'))
  on(metrics.listForModels, () => listed('MODEL'))

  const living = async (uuid: string) => {
    const found = await table.require(uuid)
    if (found.deleted) throw ApiError.notFound(`Custom metric ${uuid}`)
    return found.metric
  }
  const insert = async (metric: Metric) => {
    const { metric_uuid } = metric
    await table.insert({ metric_uuid, metric, deleted: false })
    return { metric }
  }

  on(metrics.create, ({ body }) => {
    const now = timestamp(clock)
    return insert({
      metric_uuid: ids.uuid(),
      metric_name: body.metric_name,
      ...(body.description !== undefined && { description: body.description }),
      category: 'METRIC_CATEGORY_CORRECTNESS',
      metric_type: 'METRIC_TYPE_MODEL_QUALITY',
      metric_value_type: 'METRIC_VALUE_TYPE_NUMBER',
      evaluation_scope: 'EVALUATION_SCOPE_MODEL',
      source: 'EVALUATION_METRIC_SOURCE_CUSTOM',
      range_min: 0,
      range_max: 100,
      inverted: false,
      scoring: 'judge',
      pass_threshold: 70,
      ...(body.config.requires_ground_truth && { needs: ['ground_truth'] }),
      custom_eval_config: { ...body.config, created_at: now, updated_at: now },
    })
  })

  /** Under a new uuid, since the scores of the old text stay what they are. */
  on(metrics.update, async ({ path, body }) => {
    const old = await living(path.metric_uuid)
    const config = { ...old.custom_eval_config, ...body.config }
    await table.update(path.metric_uuid, (found) => ({ ...found, deleted: true }))
    return insert({
      ...old,
      metric_uuid: ids.uuid(),
      metric_name: body.metric_name ?? old.metric_name,
      ...(body.description !== undefined && { description: body.description }),
      needs: config.requires_ground_truth ? ['ground_truth'] : [],
      custom_eval_config: {
        ...config,
        scoring_prompt: config.scoring_prompt ?? '',
        updated_at: timestamp(clock),
      },
    })
  })

  /** Presets that rest on it go with it. */
  on(metrics.delete, async ({ path }) => {
    const metric = await living(path.metric_uuid)
    await table.update(path.metric_uuid, (found) => ({ ...found, deleted: true }))
    for (const { eval_preset_uuid, metric_uuids } of await presets.list()) {
      if (metric_uuids?.includes(path.metric_uuid)) await presets.remove(eval_preset_uuid)
    }
    return { metric }
  })
}
