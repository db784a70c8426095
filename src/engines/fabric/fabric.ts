import { readlinkSync } from 'node:fs'
import { type Change, emptyNetwork, type Host, merge, type Part, partsOf } from './desired.ts'
import {
  entryOf,
  findHolders,
  type Holder,
  holderOf,
  type Mode,
  probe,
  type Spawn,
  startHolder,
  systemSpawn,
} from './holder.ts'
import { isAsWanted, listHosts, makeHosts, removeHosts } from './hosts.ts'
import { addressesOf, type Pieces, piecesOf } from './pieces.ts'
import { difference, inForce, otherTable, skeleton, type TableName } from './table.ts'

export interface FabricOptions {
  /** Labels what we make, so that it is found again: unique to a COVE_HOME. */
  owner: string
  mode: 'auto' | Mode
  log: (sentence: string) => void
  spawn?: Spawn
}

export interface FabricStanding {
  mode: Mode
  enforced: boolean
  reason?: string
  fix?: string
}

/** The network of hosts in the kernel. */
export interface Fabric {
  standing(): FabricStanding
  /** Brings the whole network about; what an earlier process left is adopted or cleaned. */
  start(network: Change): Promise<void>
  /** In force when the promise resolves; several at once become one transaction. */
  change(change: Change): Promise<void>
  /** What to put before a command to run it in a host's network; undefined where there is none. */
  entry(host: string): string[] | undefined
  /** Takes everything away. */
  close(): Promise<void>
}

/** Commands in one transaction where the kernel bounds what we may send at once. */
const batchSize = 400

export const createFabric = (options: FabricOptions): Fabric => {
  const spawn = options.spawn ?? systemSpawn
  const network = emptyNetwork()
  let standing: FabricStanding = { mode: 'none', enforced: false, reason: 'not started yet' }
  let holder: Holder | undefined
  let table: TableName = 'cove_a'
  let applied = new Map<Part, Pieces>()
  const made = new Map<string, Host>()
  let dirty = new Set<Part>()
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  const nft = (inside: Holder, commands: readonly string[]) =>
    inside.run(['nft', '-f', '-'], `${commands.join('\n')}\n`)

  const batches = (commands: string[]): string[][] => {
    if (standing.mode === 'root') return [commands]
    const count = Math.ceil(commands.length / batchSize)
    return Array.from({ length: count }, (_, at) =>
      commands.slice(at * batchSize, (at + 1) * batchSize),
    )
  }

  const found = async (mode: 'root' | 'rootless'): Promise<Holder> => {
    const [kept, ...others] = findHolders(options.owner)
      .sort((a, b) => a - b)
      .map((pid) => holderOf(spawn, mode, pid))
    for (const stray of others) await stray.stop()
    if (kept && isOfMode(kept.pid, mode)) return kept
    await kept?.stop()
    return startHolder(spawn, mode, options.owner)
  }

  /** The whole table beside the one in force, which it replaces in one step; and all hosts. */
  const rebuild = async (mode: 'root' | 'rootless') => {
    const inside = await found(mode)
    holder = inside
    const chains = await inside.run(['nft', 'list', 'chains'])
    const inForceNow = tableInForce(chains)
    const fresh = inForceNow ? otherTable(inForceNow) : 'cove_a'
    const parts = new Map(partsOf(network).map((part) => [part, piecesOf(part, network)]))
    const whole = difference(
      fresh,
      [...parts.values()].map((pieces) => [undefined, pieces]),
    )
    await nft(inside, [`add table inet ${fresh}`, `delete table inet ${fresh}`, ...skeleton(fresh)])
    for (const batch of batches(whole)) if (batch.length > 0) await nft(inside, batch)

    const present = await listHosts(inside)
    const stray = [...present.keys()].filter((name) => {
      const host = network.hosts.get(name)
      return !host || !isAsWanted(present.get(name), host)
    })
    await removeHosts(inside, stray)
    await nft(inside, [
      ...inForce(fresh),
      ...(inForceNow ? [`delete table inet ${inForceNow}`] : []),
    ])
    table = fresh
    applied = parts
    await makeHosts(
      inside,
      [...network.hosts].filter(([name]) => !present.has(name) || stray.includes(name)),
    )
    made.clear()
    for (const [name, host] of network.hosts) made.set(name, host)
  }

  /** Only what changed. A host comes after its firewalls and goes before them. */
  const adjust = async (inside: Holder, parts: ReadonlySet<Part>) => {
    const after = [...parts].map((part) => [part, piecesOf(part, network)] as const)
    const commands = difference(
      table,
      after.map(([part, pieces]) => [applied.get(part), pieces]),
    )
    if (batches(commands).length > 1) return rebuild(modeOf(standing))
    const hosts = [...parts].flatMap((part) => (part.startsWith('hosts ') ? [part.slice(6)] : []))
    const gone = hosts.filter((name) => !isSame(made.get(name), network.hosts.get(name)))
    await removeHosts(inside, gone)
    for (const name of gone) made.delete(name)
    if (commands.length > 0) await nft(inside, commands)
    for (const [part, pieces] of after) {
      if (pieces.chains.size + pieces.elements.size > 0) applied.set(part, pieces)
      else applied.delete(part)
    }
    const wanted = hosts.flatMap((name): [string, Host][] => {
      const host = network.hosts.get(name)
      return host && !made.has(name) ? [[name, host]] : []
    })
    await makeHosts(inside, wanted)
    for (const [name, host] of wanted) made.set(name, host)
  }

  const flush = async () => {
    const parts = dirty
    dirty = new Set()
    if (!standing.enforced) return
    try {
      if (holder?.isAlive()) await adjust(holder, parts)
      else if (network.hosts.size > 0) await rebuild(modeOf(standing))
    } catch (error) {
      options.log(
        `The network could not be changed, so it is built anew: ${(error as Error).message}`,
      )
      for (const part of parts) dirty.add(part)
      if (network.hosts.size > 0) await rebuild(modeOf(standing))
    }
  }

  /** One at a time; what is asked meanwhile goes together in the next. */
  const flushed = (): Promise<void> => {
    next ??= running
      .catch(() => {}) // Whoever asked for it has been told.
      .then(() => {
        next = undefined
        running = flush()
        return running
      })
    return next
  }

  return {
    standing: () => standing,
    async start(change) {
      const { mode, reason, fix } = await probe(spawn, options.mode)
      standing = {
        mode,
        enforced: mode !== 'none',
        ...(reason !== undefined && { reason }),
        ...(fix !== undefined && { fix }),
      }
      merge(network, change)
      if (!standing.enforced) return
      if (network.hosts.size > 0) await rebuild(modeOf(standing))
      else
        for (const pid of findHolders(options.owner))
          await removeAll(holderOf(spawn, modeOf(standing), pid))
    },
    async change(change) {
      for (const part of merge(network, change)) dirty.add(part)
      await flushed()
    },
    entry: (host) =>
      holder && made.has(host) ? entryOf(modeOf(standing), holder, host) : undefined,
    async close() {
      await running.catch(() => {}) // Whoever asked for it has been told.
      if (!standing.enforced) return
      for (const pid of findHolders(options.owner)) {
        await removeAll(holderOf(spawn, modeOf(standing), pid))
      }
      holder = undefined
      made.clear()
    },
  }
}

const removeAll = async (holder: Holder) => {
  await removeHosts(holder, [...(await listHosts(holder)).keys()])
  await holder.stop()
}

/** Whether a host there is need not be made anew; one that is not there cannot go. */
const isSame = (present: Host | undefined, wanted: Host | undefined): boolean =>
  present === undefined || addressesOf(present).join() === addressesOf(wanted).join()

const modeOf = ({ mode }: FabricStanding): 'root' | 'rootless' => {
  if (mode === 'none') throw new Error('There is no network fabric on this machine.')
  return mode
}

/** The table whose chains the kernel asks; one that is still being built has no hooks. */
const tableInForce = (chains: string): TableName | undefined => {
  let current: string | undefined
  for (const line of chains.split('\n')) {
    current = /^table inet (\w+)/.exec(line)?.[1] ?? current
    if (/type \w+ hook/.test(line)) return current as TableName
  }
  return undefined
}

/** A rootless holder has users of its own; one that root made shares ours. */
const isOfMode = (pid: number, mode: 'root' | 'rootless'): boolean => {
  const shared = readlinkSync(`/proc/${pid}/ns/user`) === readlinkSync('/proc/self/ns/user')
  return shared === (mode === 'root')
}
