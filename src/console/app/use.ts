import { useEffect, useState } from 'preact/hooks'

export interface Loaded<T> {
  value: T | undefined
  fault: string | undefined
  reload(): void
}

/** Loads a value when the page shows it, and again every `every` ms while the tab is looked at. */
export const useLoaded = <T>(load: () => Promise<T>, key: string, every?: number): Loaded<T> => {
  const [value, setValue] = useState<T>()
  const [fault, setFault] = useState<string>()
  const [turn, setTurn] = useState(0)

  useEffect(() => {
    let current = true
    const run = () => {
      if (every !== undefined && document.hidden) return
      load().then(
        (loaded) => {
          if (!current) return
          setValue(() => loaded)
          setFault(undefined)
        },
        (error: Error) => current && setFault(error.message),
      )
    }
    run()
    const timer = every === undefined ? undefined : setInterval(run, every)
    return () => {
      current = false
      clearInterval(timer)
    }
  }, [key, turn])

  return { value, fault, reload: () => setTurn(turn + 1) }
}

/** The part of the address behind `#`, without the `/`. */
export const useRoute = (): string => {
  const read = () => location.hash.replace(/^#\/?/, '')
  const [route, setRoute] = useState(read)
  useEffect(() => {
    const changed = () => setRoute(read())
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return route
}
