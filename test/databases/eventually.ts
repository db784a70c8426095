/** Try until it succeeds, or the time is up. */
export const eventually = async <T>(work: () => Promise<T>, withinMs = 20_000): Promise<T> => {
  const deadline = Date.now() + withinMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
