import type { EvaluatedRun } from './load.ts'

/** The rows of a run as CSV: one line a prompt, a column a metric. */
export const reportCsv = ({ rows, metrics }: EvaluatedRun): string => {
  const names = metrics.map(({ name }) => name)
  const header = [
    'row',
    'input',
    'output',
    'ground_truth',
    'error',
    'latency_ms',
    'cost_usd',
    ...names,
  ]
  const lines = rows.map((row) =>
    [
      row.row,
      row.input,
      row.output,
      row.ground_truth,
      row.error,
      row.latency_ms,
      row.cost_usd,
      ...names.map((name) => {
        const score = row.scores.find((one) => one.name === name)
        return score?.value ?? score?.status.toLowerCase()
      }),
    ]
      .map(cell)
      .join(','),
  )
  return `${[header.map(cell).join(','), ...lines].join('\r\n')}\r\n`
}

/** A value that a spreadsheet would take for a formula is kept as text. */
const cell = (value: string | number | undefined): string => {
  if (value === undefined) return ''
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
