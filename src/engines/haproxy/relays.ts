import { messageOf } from '#core/error.ts'
import type { Balancer } from './model.ts'
import { udpBackendOf } from './parts.ts'
import { downIn } from './stats.ts'
import { createUdpRelay, type UdpRelay } from './udp.ts'

/** ms between two looks at which targets are up */
const interval = 500

interface Kept {
  relay: UdpRelay
  balancer: Balancer
}

/** The udp listeners of all balancers; HAProxy checks the health of their targets. */
export const createUdpRelays = (stats: () => Promise<string>) => {
  const kept = new Map<string, Kept>()
  const problems = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  /** Targets HAProxy calls down; before it has looked, all count as up. */
  const refresh = async (): Promise<void> => {
    const down = downIn(await stats())
    for (const [name, { relay, balancer }] of kept) {
      const out = down.get(name)
      relay.retarget(
        balancer.targets.filter(({ id }) => !out?.has(id)).map(({ address }) => address),
      )
    }
  }

  const open = async (
    name: string,
    balancer: Balancer,
    listener: Balancer['listeners'][number],
  ) => {
    const present = kept.get(name)
    const { address } = balancer
    const same =
      present?.relay.spec.address === address &&
      present.relay.spec.targetPort === listener.targetPort
    if (present && same) {
      present.balancer = balancer
      return
    }
    present?.relay.close()
    const targets = balancer.targets.map((target) => target.address)
    const relay = await createUdpRelay({
      address,
      port: listener.port,
      targetPort: listener.targetPort,
      targets,
    })
    kept.set(name, { relay, balancer })
  }

  return {
    problems: (): Map<string, string> => problems,
    async put(balancers: readonly Balancer[]): Promise<void> {
      const wanted = new Set<string>()
      problems.clear()
      for (const balancer of balancers) {
        for (const listener of balancer.listeners) {
          if (listener.protocol !== 'udp') continue
          const name = udpBackendOf(balancer.id, listener.port)
          wanted.add(name)
          try {
            await open(name, balancer, listener)
          } catch (error) {
            problems.set(balancer.id, `udp port ${listener.port}: ${messageOf(error)}`)
          }
        }
      }
      for (const [name, { relay }] of kept) {
        if (wanted.has(name)) continue
        relay.close()
        kept.delete(name)
      }
      clearInterval(timer)
      if (kept.size === 0) return
      // While HAProxy is being started again there is nothing to learn.
      const look = (): Promise<void> => refresh().catch(() => undefined)
      await look()
      timer = setInterval(look, interval)
      timer.unref()
    },
    close(): void {
      clearInterval(timer)
      for (const { relay } of kept.values()) relay.close()
      kept.clear()
    },
  }
}
