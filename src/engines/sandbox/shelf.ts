interface Kept {
  key: string
  since: number
}

/** Things that wait to be used again, by key; the one that came last is warmest. */
export const createShelf = <T extends Kept>() => {
  const lists = new Map<string, T[]>()
  return {
    put: (item: T) => {
      const list = lists.get(item.key)
      if (list) list.push(item)
      else lists.set(item.key, [item])
    },
    /** Whether it was there. */
    remove: (item: T): boolean => {
      const list = lists.get(item.key)
      const at = list?.indexOf(item) ?? -1
      if (!list || at < 0) return false
      list.splice(at, 1)
      if (list.length === 0) lists.delete(item.key)
      return true
    },
    newest: (key: string): T | undefined => lists.get(key)?.at(-1),
    first: (key: string): T | undefined => lists.get(key)?.[0],
    oldest: (): T | undefined => {
      let found: T | undefined
      for (const [first] of lists.values())
        if (first && first.since <= (found?.since ?? Number.POSITIVE_INFINITY)) found = first
      return found
    },
    has: (key: string): boolean => lists.has(key),
    count: (key: string): number => lists.get(key)?.length ?? 0,
    all: (): T[] => [...lists.values()].flat(),
    size: (): number => lists.size,
  }
}
