import { createHash } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A loopback address for a cluster, the same whenever its id is the same: 127.64.0.0/11 for those that
 * answer, 127.96.0.0/11 for servers behind a proxy. Taken ones are skipped.
 */
export const chooseAddress = async (
  id: string,
  ports: readonly number[],
  taken: ReadonlySet<string>,
): Promise<string> => {
  for (let attempt = 0; attempt < 64; attempt++) {
    const hash = createHash('sha256').update(`${id}/${attempt}`).digest()
    const [b = 0, c = 0, d = 0] = hash
    const address = `127.${64 + (b % 32)}.${c}.${1 + (d % 254)}`
    if (!taken.has(address) && (await free(address, ports))) return address
  }
  throw new Error('No free loopback address was found for the cluster.')
}

const free = async (address: string, ports: readonly number[]): Promise<boolean> => {
  const results = await Promise.all(
    ports.map(
      (port) =>
        new Promise<boolean>((resolve) => {
          const server = createServer()
          server.once('error', () => resolve(false))
          server.listen(port, address, () => server.close(() => resolve(true)))
        }),
    ),
  )
  return results.every(Boolean)
}
