import type { Metric, StarMetric } from '../evaluation-metrics/contract.ts'

const usual = { normal: 70, inverted: 20 }

/** The value from which on a prompt passes a metric; what the star metric asks goes before. */
export const thresholdOf = (metric: Metric, star?: StarMetric): number => {
  const asked =
    star && (star.metric_uuid === metric.metric_uuid || star.name === metric.metric_name)
      ? star.success_threshold
      : undefined
  return asked ?? metric.pass_threshold ?? (metric.inverted ? usual.inverted : usual.normal)
}

export const passes = (value: number, threshold: number, inverted = false): boolean =>
  inverted ? value <= threshold : value >= threshold
