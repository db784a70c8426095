/** Works on many things, so many at a time; the first that fails stops it. */
export const createPool = (size: number) => {
  let running = 0
  let broken: { error: unknown } | undefined
  let wake = () => {}
  const change = () => new Promise<void>((resolve) => (wake = resolve))

  const check = () => {
    if (broken) throw broken.error
  }

  return {
    /** Begins the work as soon as there is room. */
    async add(work: () => Promise<void>): Promise<void> {
      while (running >= size && !broken) await change()
      check()
      running++
      void work()
        .catch((error) => {
          broken ??= { error }
        })
        .finally(() => {
          running--
          wake()
        })
    },
    /** Waits until one more is done. */
    async next(): Promise<void> {
      if (running > 0) await change()
      check()
    },
    /** Feeds the pool and waits until nothing runs any more; throws what stopped it. */
    async until(feed: () => Promise<void>): Promise<void> {
      try {
        await feed()
      } finally {
        while (running > 0) await change()
      }
      check()
    },
  }
}
