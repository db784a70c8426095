import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Server } from 'node:net'
import { promisify } from 'node:util'
import type { Api } from '#client/client.ts'
import { droplets } from '#services/compute/droplets/contract.ts'
import type { Issued } from './pki.ts'

const run = promisify(execFile)
const part = (): number => 1 + Math.floor(Math.random() * 250)

/** An address of this machine that nobody else uses: all of 127/8 is ours. */
export const ownAddress = (): string => `127.81.${part()}.${part()}`

export interface Site {
  /** The instance it is registered as. */
  id: number
  address: string
  port: number
  stop(): Promise<void>
  start(): Promise<void>
}

interface SiteOptions {
  api: Api
  name: string
  port?: number
  tls?: Issued
  tags?: string[]
  answer?: (request: IncomingMessage) => string
}

/** A web server on an address of its own, registered as an instance; it answers with its name. */
export const openSite = async (options: SiteOptions): Promise<Site> => {
  const { name, port = 8080, answer = () => name } = options
  const address = ownAddress()
  let server: Server | undefined
  const site = {
    address,
    port,
    start: () =>
      new Promise<void>((resolve, reject) => {
        const reply = (request: IncomingMessage, response: ServerResponse) => {
          response.setHeader('cache-control', 'max-age=60')
          response.end(answer(request))
        }
        server = options.tls ? createSecureServer(options.tls, reply) : createServer(reply)
        server.once('error', reject)
        server.listen(port, address, resolve)
      }),
    stop: () =>
      new Promise<void>((resolve) => {
        const closing = server as ReturnType<typeof createServer>
        closing.close(() => resolve())
        closing.closeAllConnections()
      }),
  }
  await site.start()
  const { droplet } = await options.api(droplets.create, {
    body: { name, ip_address: address, tags: options.tags ?? [] },
  })
  return { ...site, id: droplet.id }
}

/** What curl prints; a failing curl is an error. */
export const curl = async (...args: string[]): Promise<string> => {
  const { stdout } = await run('curl', ['-sS', '--max-time', '10', ...args])
  return stdout
}
