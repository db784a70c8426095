/** Arithmetic and tables that every benchmark shares. */
export const median = (values: readonly number[]): number => percentile(values, 50)

export const percentile = (values: readonly number[], rank: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const index = Math.ceil((rank / 100) * sorted.length) - 1
  return sorted[Math.max(0, index)] ?? Number.NaN
}

export interface Bar {
  what: string
  ours: number
  /** The peer or floor, measured in the same run. */
  theirs: number
  unit: string
  /** The ratio ours/theirs that must hold. */
  atMost?: number
  atLeast?: number
}

/** Prints each measurement as a ratio; the exit status says whether every bar held. */
export const report = (title: string, bars: readonly Bar[]): void => {
  console.log(`\n${title}`)
  let failed = false
  for (const { what, ours, theirs, unit, atMost, atLeast } of bars) {
    const ratio = ours / theirs
    const held =
      (atMost === undefined || ratio <= atMost) && (atLeast === undefined || ratio >= atLeast)
    failed ||= !held
    const bar =
      atMost !== undefined
        ? `at most ${atMost}`
        : atLeast !== undefined
          ? `at least ${atLeast}`
          : ''
    console.log(
      `  ${held ? 'ok  ' : 'MISS'} ${what.padEnd(58)} ${shown(ours)} / ${shown(theirs)} ${unit} = ${ratio.toFixed(3)}${bar ? ` (${bar})` : ''}`,
    )
  }
  if (failed) process.exitCode = 1
}

const shown = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3))
