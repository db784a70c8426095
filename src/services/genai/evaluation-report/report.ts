import { passes } from '../evaluation-engine/threshold.ts'
import type { EvaluatedRow, EvaluatedRun } from './load.ts'
import {
  type Interval,
  mean,
  meanInterval,
  type Paired,
  pairedComparison,
  wilson,
} from './statistics.ts'

/** All that a page, or a program, needs to know of a run. */
export interface Report {
  run: Omit<EvaluatedRun, 'rows' | 'metrics'>
  rows: number
  answered: number
  metrics: MetricReport[]
  worst: WorstRow[]
  comparison?: { name: string; uuid: string; metrics: MetricComparison[] }
}

interface MetricReport {
  name: string
  description: string
  inverted: boolean
  threshold: number
  scored: number
  failed: number
  skipped: number
  mean?: number
  mean_interval?: Interval
  pass_share?: number
  pass_interval?: Interval
  /** How many scores fall into each of twenty equal parts of the range. */
  histogram: number[]
  /** Share of repeated judgements that agree on pass or fail. */
  agreement?: number
}

interface WorstRow extends EvaluatedRow {
  /** How far it falls short of its thresholds, summed over the metrics. */
  shortfall: number
}

interface MetricComparison extends Paired {
  name: string
  inverted: boolean
}

const worstShown = 12
const bins = 20

export const reportOf = (run: EvaluatedRun, other?: EvaluatedRun): Report => {
  const { rows, metrics, ...facts } = run
  return {
    run: facts,
    rows: run.total_rows,
    answered: rows.filter(({ output }) => output !== undefined).length,
    metrics: metrics.map((metric) => metricReport(metric, rows)),
    worst: worstRows(run),
    ...(other && {
      comparison: { name: other.name, uuid: other.uuid, metrics: compared(run, other) },
    }),
  }
}

type Metric = EvaluatedRun['metrics'][number]

const scoreOf = (row: EvaluatedRow, metric: Metric) =>
  row.scores.find(({ name }) => name === metric.name)

const metricReport = (metric: Metric, rows: readonly EvaluatedRow[]): MetricReport => {
  const scores = rows.flatMap((row) => scoreOf(row, metric) ?? [])
  const values = scores.flatMap(({ value }) => value ?? [])
  const hits = values.filter((value) => passes(value, metric.threshold, metric.inverted)).length
  const agreements = scores.flatMap(({ agreement }) => agreement ?? [])
  const histogram = new Array<number>(bins).fill(0)
  for (const value of values) {
    const share = (value - metric.min) / (metric.max - metric.min || 1)
    const bin = Math.min(bins - 1, Math.max(0, Math.floor(share * bins)))
    histogram[bin] = (histogram[bin] ?? 0) + 1
  }
  return {
    name: metric.name,
    description: metric.description,
    inverted: metric.inverted,
    threshold: metric.threshold,
    scored: values.length,
    failed: scores.filter(({ status }) => status === 'FAILED').length,
    skipped: scores.filter(({ status }) => status === 'SKIPPED').length,
    histogram,
    ...(values.length > 0 && {
      mean: mean(values),
      mean_interval: meanInterval(values),
      pass_share: hits / values.length,
      pass_interval: wilson(hits, values.length),
    }),
    ...(agreements.length > 0 && { agreement: mean(agreements) }),
  }
}

const worstRows = ({ rows, metrics }: EvaluatedRun): WorstRow[] =>
  rows
    .map((row) => ({
      ...row,
      shortfall: metrics.reduce(
        (sum, metric) => {
          const value = scoreOf(row, metric)?.value
          if (value === undefined) return sum
          const miss = metric.inverted ? value - metric.threshold : metric.threshold - value
          return sum + Math.max(0, miss)
        },
        row.output === undefined ? 1000 : 0,
      ),
    }))
    .filter(({ shortfall }) => shortfall > 0)
    .sort((a, b) => b.shortfall - a.shortfall || a.row - b.row)
    .slice(0, worstShown)

/** Only rows that both runs scored count, so that neither is favoured by what failed. */
const compared = (run: EvaluatedRun, other: EvaluatedRun): MetricComparison[] => {
  const others = new Map(other.rows.map((row) => [row.row, row]))
  return run.metrics.flatMap((metric) => {
    const pairs = run.rows.flatMap((row): [number, number][] => {
      const twin = others.get(row.row)
      const [mine, theirs] = [scoreOf(row, metric)?.value, twin && scoreOf(twin, metric)?.value]
      return mine === undefined || theirs === undefined || twin?.input !== row.input
        ? []
        : [[theirs, mine]]
    })
    if (pairs.length < 2) return []
    const comparison = pairedComparison(pairs, (value) =>
      passes(value, metric.threshold, metric.inverted),
    )
    return [{ name: metric.name, inverted: metric.inverted, ...comparison }]
  })
}
