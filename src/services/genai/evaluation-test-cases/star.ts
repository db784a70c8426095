/** The first metric decides, unless the API is told otherwise. */
export const starOf = (metrics: readonly string[] | undefined) => {
  const [metric_uuid] = metrics ?? []
  return metric_uuid ? { star_metric: { metric_uuid, success_threshold_pct: 80 } } : {}
}
