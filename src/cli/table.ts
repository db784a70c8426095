/** Rows under headings, columns as wide as they need to be. */
export const table = (
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string => {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return `${[headings.map((heading) => heading.toUpperCase()), ...rows].map(line).join('\n')}\n`
}

export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
