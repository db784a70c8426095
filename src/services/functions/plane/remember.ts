/** Keeps answers for a moment: a change made here is seen at once, one made by another process then. */
export const createMemory = <T>(now: () => number, trust: number, most = 10_000) => {
  const known = new Map<string, { value: T; until: number }>()
  let changes = 0
  return {
    get: async (key: string, find: () => Promise<T>): Promise<T> => {
      const there = known.get(key)
      if (there && now() < there.until) return there.value
      const before = changes
      const value = await find()
      if (known.size >= most) known.clear()
      // What was found while something changed may be old already.
      if (before === changes) known.set(key, { value, until: now() + trust })
      return value
    },
    forget: () => {
      changes++
      known.clear()
    },
  }
}
