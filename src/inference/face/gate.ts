/** Bytes of requests that may be under way at once, and the least that one is counted as. */
const room = 128 * 1024 * 1024
const least = 64 * 1024

/** Keeps memory bounded under load: what does not fit is refused at once, not queued. */
export const createGate = () => {
  let taken = 0
  return {
    /** Takes room for a request of so many bytes; undefined when there is none. */
    enter: (bytes: number): (() => void) | undefined => {
      const size = Math.max(least, bytes)
      if (taken + size > room) return undefined
      taken += size
      let inside = true
      return () => {
        if (inside) taken -= size
        inside = false
      }
    },
  }
}
