import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { probe, type Spawn, systemSpawn } from '#engines/fabric/holder.ts'
import { agent } from './agent.ts'

export type LabMode = 'root' | 'rootless'

const nobody = 65_534

/** Starts programs as this user in root mode, and never as root in rootless mode. */
export const spawnOf = (mode: LabMode): Spawn =>
  mode === 'rootless' && process.getuid?.() === 0
    ? (command, args, options) => spawn(command, args, { ...options, uid: nobody, gid: nobody })
    : systemSpawn

/** The modes that this machine lets us try, and those that it does not, told aloud. */
export const labModes = async () => {
  const possible: LabMode[] = []
  const impossible: { mode: LabMode; reason: string }[] = []
  for (const mode of ['root', 'rootless'] as const) {
    const found = await probe(spawnOf(mode), mode)
    if (found.mode === mode) possible.push(mode)
    else impossible.push({ mode, reason: found.reason ?? '' })
  }
  for (const { mode, reason } of impossible) {
    process.stderr.write(`\nNOT TRIED: the network fabric in mode ${mode}, since ${reason}\n`)
  }
  return { possible, impossible }
}

/** Someone inside an instance who does what one asks. */
export interface Agent {
  ask<R = string>(act: string, order?: Record<string, unknown>): Promise<R>
  end(): Promise<void>
}

export const sendAgent = (mode: LabMode, entry: readonly string[]): Agent => {
  const [program = '', ...args] = [...entry, process.execPath, '-e', `(${agent})(require)`]
  const child: ChildProcess = spawnOf(mode)(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
  })
  const waiting = new Map<number, (said: unknown) => void>()
  let next = 1
  if (!child.stdout) throw new Error('An agent has no output.')
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, said } = JSON.parse(line)
    waiting.get(id)?.(said)
    waiting.delete(id)
  })
  const ended = once(child, 'exit')
  return {
    ask: <R>(act: string, order = {}) =>
      new Promise<R>((resolve) => {
        const id = next++
        waiting.set(id, (said) => resolve(said as R))
        child.stdin?.write(`${JSON.stringify({ ...order, id, act })}\n`)
      }),
    end: async () => {
      child.stdin?.end()
      await ended
    },
  }
}
