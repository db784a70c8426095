import type { ChildProcess } from 'node:child_process'
import { createServer, type Server } from 'node:net'
import { builtFile } from '#core/built.ts'
import type { Fabric } from './fabric.ts'
import { type Spawn, systemSpawn } from './holder.ts'

/** Addresses of this machine behind which hosts of the fabric answer, as one of them reaches them. */
export interface Doors {
  /** The address on which all these ports of a host answer, seen from `through`. */
  open(through: string, address: string, ports: readonly number[]): Promise<string>
  /** Close what leads through a host. */
  close(through: string): Promise<void>
}

export const createDoors = (fabric: Fabric, spawn: Spawn = systemSpawn): Doors => {
  const keepers = new Map<string, { child: ChildProcess; open: Map<string, Promise<string>> }>()
  let next = Math.floor(Math.random() * 60_000)

  const keeperOf = (through: string) => {
    const present = keepers.get(through)
    if (present?.child.connected) return present
    const entry = fabric.entry(through)
    if (!entry) throw new Error(`${through} has no network in the fabric.`)
    const [program = '', ...args] = [...entry, process.execPath, builtFile('door.worker.js')]
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    child.unref()
    const keeper = { child, open: new Map() }
    keepers.set(through, keeper)
    return keeper
  }

  /** A door listens here, and is handed over to the one inside. */
  const hand = (child: ChildProcess, door: Server, order: { address: string; port: number }) =>
    new Promise<void>((resolve, reject) => {
      child.send(order, door, (error) => {
        door.close()
        if (error) reject(error)
        else resolve()
      })
    })

  const build = async (child: ChildProcess, address: string, ports: readonly number[]) => {
    for (;;) {
      const at = next++ % 65_000
      const own = `127.81.${at >> 8}.${1 + (at & 127)}`
      const doors = await Promise.all(ports.map((port) => listen(own, port)))
      if (doors.some((door) => door === undefined)) {
        for (const door of doors) door?.close()
        continue // Another Cove of this machine has it.
      }
      for (const [index, door] of doors.entries()) {
        if (door) await hand(child, door, { address, port: ports[index] ?? 0 })
      }
      return own
    }
  }

  return {
    open(through, address, ports) {
      const { child, open } = keeperOf(through)
      const wanted = [...new Set(ports)].sort((a, b) => a - b)
      const key = `${address} ${wanted.join(' ')}`
      const door = open.get(key) ?? build(child, address, wanted)
      open.set(key, door)
      return door
    },
    async close(through) {
      keepers.get(through)?.child.kill()
      keepers.delete(through)
    },
  }
}

/** Undefined where the address is taken; a port that is not ours to take is an error. */
const listen = (host: string, port: number): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const door = createServer()
    door.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    door.listen({ host, port }, () => resolve(door))
  })
