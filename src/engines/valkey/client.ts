import { join } from 'node:path'
import { Redis } from 'iovalkey'
import type { Node } from '../local/engine.ts'

/** Cove's own account in the server; customers never get it. */
export const root = 'cove'

export const socketOf = (node: Node) => join(node.run, 'server.sock')

/** A session over the node's own socket, closed afterwards. */
export const withSession = <T>(node: Node, work: (client: Redis) => Promise<T>): Promise<T> =>
  session(
    new Redis({
      path: socketOf(node),
      username: root,
      password: node.cluster.rootPassword,
      ...once,
    }),
    work,
  )

/** One connection, no second try: whoever asks decides whether to ask again. */
export const once = {
  lazyConnect: true,
  enableReadyCheck: false,
  retryStrategy: () => null,
  maxRetriesPerRequest: 0,
  connectTimeout: 5000,
} as const

export const session = async <T>(
  client: Redis,
  work: (client: Redis) => Promise<T>,
): Promise<T> => {
  let reason: Error | undefined
  client.on('error', (error: Error) => {
    reason = error
  })
  try {
    await client.connect()
    return await work(client)
  } catch (error) {
    // The library says "Connection is closed"; the event before it says why.
    throw reason ?? error
  } finally {
    client.disconnect()
  }
}

/** `INFO section` as a record. */
export const info = async (client: Redis, section: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await client.info(section))
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  )
