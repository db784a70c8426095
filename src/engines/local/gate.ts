import type { Enforcement, Sources } from '../database.ts'
import { kernelGate } from './kernel-gate.ts'
import { proxyGate } from './proxy-gate.ts'
import { run } from './run.ts'

/** Decides which sources reach a cluster. */
export interface Gate {
  readonly kind: 'kernel' | 'proxy'
  /** Where servers of the cluster must listen so that everybody passes the gate. */
  inner(address: string): string
  /** Open the cluster's ports to these sources and cut everybody else off. */
  set(id: string, door: Door): Promise<Enforcement>
  clear(id: string): Promise<void>
  /** Forget what only this process held. */
  close(): Promise<void>
}

export interface Door {
  /** The cluster's own address. */
  address: string
  ports: readonly number[]
  /** The account of the servers, which reach each other whatever the sources. */
  uid: number | undefined
  sources: Sources
}

/** The kernel's filter where Cove may set it, otherwise a proxy. `table` is this Cove's own. */
export const openGate = async (
  table: string,
  wanted: 'kernel' | 'proxy' | 'auto',
): Promise<Gate> => {
  if (wanted === 'proxy') return proxyGate()
  const problem = await kernelProblem(table)
  if (problem === undefined) return kernelGate(table)
  if (wanted === 'kernel') throw new Error(`The kernel filter cannot be used: ${problem}`)
  return proxyGate(problem)
}

const kernelProblem = async (table: string): Promise<string | undefined> => {
  if (process.getuid?.() !== 0) return 'Cove does not run as root.'
  const probe = `${table}_probe`
  try {
    await run({ argv: ['nft', '-f', '-'], input: `table ip ${probe}\ndelete table ip ${probe}\n` })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
