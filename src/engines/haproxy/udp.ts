import { createSocket, type Socket } from 'node:dgram'

/** A udp listener of a balancer. */
export interface UdpSpec {
  address: string
  port: number
  targetPort: number
  /** Addresses of targets that are up. */
  targets: string[]
}

interface Flow {
  socket: Socket
  target: string
  last: number
}

/** ms without a datagram after which a client is forgotten */
const idle = 60_000
/** Clients remembered at once by one listener. */
const mostFlows = 10_000

/**
 * Forwards datagrams where HAProxy cannot: a client stays with its target while both talk, and
 * answers go back from the address it wrote to.
 */
export const createUdpRelay = async (spec: UdpSpec) => {
  const flows = new Map<string, Flow>()
  let targets = spec.targets
  let turn = 0
  const entry = createSocket(spec.address.includes(':') ? 'udp6' : 'udp4')

  const forget = (client: string): void => {
    flows.get(client)?.socket.close()
    flows.delete(client)
  }

  const flowOf = (client: string, reply: (message: Buffer) => void): Flow | undefined => {
    const present = flows.get(client)
    if (present && targets.includes(present.target)) return present
    if (present) forget(client)
    const target = targets[turn++ % Math.max(1, targets.length)]
    if (target === undefined || flows.size >= mostFlows) return undefined
    const socket = createSocket(target.includes(':') ? 'udp6' : 'udp4')
    const flow = { socket, target, last: performance.now() }
    socket.on('message', reply)
    // A target that refuses is found out by its health check, not here.
    socket.on('error', () => forget(client))
    flows.set(client, flow)
    return flow
  }

  entry.on('message', (message, { address, port }) => {
    const client = `${address} ${port}`
    const flow = flowOf(client, (answer) => entry.send(answer, port, address))
    if (!flow) return
    flow.last = performance.now()
    flow.socket.send(message, spec.targetPort, flow.target)
  })
  await new Promise<void>((resolve, reject) => {
    entry.once('error', reject)
    entry.bind({ address: spec.address, port: spec.port, exclusive: true }, () => {
      entry.off('error', reject)
      entry.on('error', () => undefined)
      resolve()
    })
  })
  const sweep = setInterval(() => {
    for (const [client, flow] of flows) if (performance.now() - flow.last > idle) forget(client)
  }, 10_000)
  sweep.unref()
  return {
    spec,
    retarget(addresses: string[]): void {
      targets = addresses
    },
    close(): void {
      clearInterval(sweep)
      for (const client of [...flows.keys()]) forget(client)
      entry.close()
    },
  }
}

export type UdpRelay = Awaited<ReturnType<typeof createUdpRelay>>
