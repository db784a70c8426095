export interface Log {
  info(message: string, facts?: Record<string, unknown>): void
  warn(message: string, facts?: Record<string, unknown>): void
  error(message: string, facts?: Record<string, unknown>): void
}

/** One JSON object a line. */
export const jsonLog = (write: (line: string) => void, now: () => number = Date.now): Log => {
  const at =
    (level: string) =>
    (message: string, facts: Record<string, unknown> = {}) =>
      write(
        `${JSON.stringify({ time: new Date(now()).toISOString(), level, message, ...facts })}\n`,
      )
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }
