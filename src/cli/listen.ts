import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Fetch } from '#client/client.ts'
import { UsageError } from './values.ts'

export interface Listening {
  url: string
  /** Ends open connections too. */
  close(): Promise<void>
}

export interface Address {
  host: string
  port: number
  /** Take a free port when this one is taken. */
  anyPort: boolean
}

/** Serves a `fetch` over HTTP. */
export const listen = async (
  serve: Fetch,
  { host, port, anyPort }: Address,
): Promise<Listening> => {
  const server = createAdaptorServer({ fetch: serve })
  const attempt = (wanted: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(wanted, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
  try {
    await attempt(port)
  } catch (error) {
    if (!anyPort || codeOf(error) !== 'EADDRINUSE')
      throw new UsageError(sayFault(error, host, port))
    await attempt(0)
  }
  const { port: taken, address } = server.address() as AddressInfo
  const name = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address
  return {
    url: `http://${name.includes(':') ? `[${name}]` : name}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        if ('closeAllConnections' in server) server.closeAllConnections()
      }),
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

const sayFault = (error: unknown, host: string, port: number): string => {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use by another program. Choose another with --port.`
    case 'EACCES':
      return `Port ${port} on ${host} is not yours to use. Choose one above 1023 with --port.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Choose another with --host.`
    default:
      return `Cove cannot listen on ${host}:${port}: ${(error as Error).message}.`
  }
}
