import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export type Mode = 'root' | 'rootless' | 'none'

/** Starts a program; passed in, so that a test can do it as another user. */
export type Spawn = (command: string, args: string[], options: SpawnOptions) => ChildProcess

export const systemSpawn: Spawn = (command, args, options) => spawn(command, args, options)

/** The environment of every program we start: administrators' tools are not on everyone's path. */
const path = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`

export class ProgramError extends Error {}

/** Runs a program to its end and gives what it says; a failure tells the program's own words. */
export const runProgram = (
  start: Spawn,
  [command = '', ...args]: readonly string[],
  input = '',
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = start(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: path } })
    let out = ''
    let err = ''
    child.stdout?.on('data', (data) => (out += data))
    child.stderr?.on('data', (data) => (err += data))
    child.once('error', (error) => reject(new ProgramError(`${command}: ${error.message}`)))
    child.once('close', (status) => {
      if (status === 0) resolve(out)
      else reject(new ProgramError(`${command} ended with ${status}: ${err.trim() || out.trim()}`))
    })
    child.stdin?.on('error', () => {}) // It ended before reading all; its status tells.
    child.stdin?.end(input)
  })

/** New namespaces for users where we are not root, then for the network and its names. */
const unshareFlags = { root: ['-n', '-m'], rootless: ['-U', '-r', '-n', '-m'] }

/** The strongest mode that works here, found by trying it, or why there is none. */
export const probe = async (
  start: Spawn,
  wanted: 'auto' | Mode,
): Promise<{ mode: Mode; reason?: string; fix?: string }> => {
  if (wanted === 'none') return { mode: 'none', reason: 'the network fabric is switched off' }
  for (const [program, name] of [
    ['ip', 'iproute2'],
    ['nft', 'nftables'],
  ] as const) {
    try {
      await runProgram(start, [program, '-V'])
    } catch {
      const fix = 'sudo apt-get install -y iproute2 nftables'
      return { mode: 'none', reason: `the program ${program} (${name}) is missing`, fix }
    }
  }
  const reasons: string[] = []
  for (const mode of wanted === 'auto' ? (['root', 'rootless'] as const) : [wanted]) {
    try {
      await runProgram(
        start,
        ['unshare', ...unshareFlags[mode], 'nft', '-f', '-'],
        'add table inet cove_probe',
      )
      return { mode }
    } catch (error) {
      reasons.push((error as Error).message)
    }
  }
  return {
    mode: 'none',
    reason: `no network namespace rights on this machine (${reasons.at(-1)})`,
    fix: 'run Cove as root, or allow user namespaces: sudo sysctl user.max_user_namespaces=10000',
  }
}

/** A process that does nothing but hold the namespaces; it outlives us, so that we can adopt it. */
export interface Holder {
  pid: number
  isAlive(): boolean
  /** Runs a program inside the fabric's network, with its own view of named namespaces. */
  run(command: readonly string[], input?: string): Promise<string>
  /** The file that stands for a named namespace, as seen from outside. */
  namespace(name: string): string
  stop(): Promise<void>
}

/** Named namespaces are mounts; on a file system of our own nobody else sees them. */
const script = [
  'mount -t tmpfs cove /run',
  'mkdir /run/netns',
  'echo 1 > /proc/sys/net/ipv4/ip_forward',
  'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding',
  'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter',
  'echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter',
  'ip link set lo up',
  'exec sleep infinity',
].join(' && ')

const label = 'FABRIC_OF'

/** Holders that an earlier process left, known by their label. */
export const findHolders = (owner: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').includes(`${label}=${owner}`))
    .filter((pid) => isHolder(Number(pid)))
    .map(Number)

/** The last thing a holder does is to become `sleep`. */
const isHolder = (pid: number): boolean => textOf(`/proc/${pid}/comm`).trim() === 'sleep'

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // It ended, or is not ours to look at.
  }
}

/** ms to wait for the namespaces. */
const patience = 10_000

export const startHolder = async (
  start: Spawn,
  mode: 'root' | 'rootless',
  owner: string,
): Promise<Holder> => {
  const child = start('unshare', [...unshareFlags[mode], 'sh', '-c', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: path, [label]: owner },
    detached: true,
  })
  let said = ''
  child.stderr?.on('data', (data) => (said += data))
  child.once('error', (error) => (said += error.message))
  const deadline = Date.now() + patience
  while (!(child.pid && isHolder(child.pid))) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new ProgramError(`The network's namespaces could not be made: ${said.trim()}`)
    }
    await sleep(2)
  }
  child.stderr?.destroy()
  child.unref()
  return holderOf(start, mode, child.pid)
}

export const holderOf = (start: Spawn, mode: 'root' | 'rootless', pid: number): Holder => {
  const enter = ['nsenter', '-t', String(pid), ...enterFlags[mode], '-m', '-n', '--']
  return {
    pid,
    isAlive: () => isHolder(pid),
    namespace: (name) => `/proc/${pid}/root/run/netns/${name}`,
    run: (command, input) => runProgram(start, [...enter, ...command], input),
    stop: async () => {
      if (!isHolder(pid)) return
      process.kill(pid, 'SIGKILL')
      while (isHolder(pid)) await sleep(2)
    },
  }
}

const enterFlags = { root: [], rootless: ['-U', '--preserve-credentials'] }

/** What to put before a command so that it runs in a host's network, with the files of this one. */
export const entryOf = (mode: 'root' | 'rootless', holder: Holder, host: string): string[] => [
  'nsenter',
  ...(mode === 'rootless' ? ['-t', String(holder.pid), ...enterFlags.rootless] : []),
  `--net=${holder.namespace(host)}`,
  '--',
]
