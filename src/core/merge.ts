/** One record of many; a key that stands twice is a mistake, not an override. */
export const merge = <T>(...records: readonly Record<string, T>[]): Record<string, T> => {
  const merged: Record<string, T> = {}
  for (const record of records) {
    for (const [key, value] of Object.entries(record)) {
      if (key in merged) throw new Error(`"${key}" is defined twice.`)
      merged[key] = value
    }
  }
  return merged
}
