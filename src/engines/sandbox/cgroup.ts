import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'

/** Limits of one sandbox. */
export interface Caps {
  /** MB */
  memory: number
  processes: number
  /** Cores, as a fraction. */
  cpus: number
}

/** A group of processes with limits, under a label that tells whose it is. */
export interface Group {
  /** Files into which a process writes its id to join. */
  joins: string[]
  limit(caps: Partial<Caps>): Promise<void>
  pids(): Promise<number[]>
  /** How often the kernel ended a process of it for lack of memory. */
  oomKills(): Promise<number>
  /** End every process and remove the group. */
  destroy(): Promise<void>
}

export interface Groups {
  version: 'v1' | 'v2'
  create(id: string): Promise<Group>
  /** Groups that an earlier process with this label left behind. */
  strays(): Promise<Group[]>
  /** Remove the label itself, once it is empty. */
  close(): Promise<void>
}

const megabyte = 1024 * 1024
/** One period of the CPU quota, in microseconds. */
const period = 100_000

/** Writes of one limit: which controller's folder, which file, what text. */
type Writes = { controller: string; file: string; text: string; optional?: boolean }[]

/** Only where the kernel accounts swap. */
const withSwap = { controller: 'memory', file: 'memory.memsw.limit_in_bytes', optional: true }

const writesV1 = ({ memory, processes, cpus }: Partial<Caps>): Writes => [
  ...(memory === undefined
    ? []
    : [
        // Memory with swap may never be below memory alone, so it is set before and after.
        { ...withSwap, text: `${memory * megabyte}` },
        { controller: 'memory', file: 'memory.limit_in_bytes', text: `${memory * megabyte}` },
        { ...withSwap, text: `${memory * megabyte}` },
      ]),
  ...(processes === undefined
    ? []
    : [{ controller: 'pids', file: 'pids.max', text: `${processes}` }]),
  ...(cpus === undefined
    ? []
    : [{ controller: 'cpu', file: 'cpu.cfs_quota_us', text: `${cpus * period}`, optional: true }]),
]

const writesV2 = ({ memory, processes, cpus }: Partial<Caps>): Writes => [
  ...(memory === undefined
    ? []
    : [
        { controller: '', file: 'memory.max', text: `${memory * megabyte}` },
        { controller: '', file: 'memory.swap.max', text: '0', optional: true },
        { controller: '', file: 'memory.oom.group', text: '1', optional: true },
      ]),
  ...(processes === undefined ? [] : [{ controller: '', file: 'pids.max', text: `${processes}` }]),
  ...(cpus === undefined
    ? []
    : [{ controller: '', file: 'cpu.max', text: `${cpus * period} ${period}`, optional: true }]),
]

const versions = {
  v1: {
    controllers: ['memory', 'pids', 'cpu'],
    writes: writesV1,
    oom: { controller: 'memory', file: 'memory.oom_control' },
  },
  v2: { controllers: [''], writes: writesV2, oom: { controller: '', file: 'memory.events' } },
} as const

/** The control groups this process may make, or undefined. Root is where the kernel shows them. */
export const openGroups = async (
  label: string,
  root = '/sys/fs/cgroup',
): Promise<Groups | undefined> => {
  const version = existsSync(path.join(root, 'cgroup.controllers')) ? 'v2' : 'v1'
  const base = version === 'v2' ? await writableV2(root) : root
  if (!base) return undefined
  const folder = (controller: string, ...rest: string[]) =>
    path.join(base, controller, 'cove-functions', label, ...rest)
  const { controllers } = versions[version]
  try {
    for (const controller of controllers) await mkdir(folder(controller), { recursive: true })
    await weigh(
      version,
      [path.dirname(folder('cpu')), folder('cpu')],
      [path.dirname(folder('')), folder('')],
    )
    if (version === 'v2')
      for (const dir of [path.dirname(folder('')), folder('')])
        await writeFile(path.join(dir, 'cgroup.subtree_control'), '+memory +pids +cpu')
  } catch {
    return undefined
  }
  const open = (id: string) => group(version, (controller) => folder(controller, id))
  return {
    version,
    create: async (id) => {
      await Promise.all(
        controllers.map((controller) => mkdir(folder(controller, id), { recursive: true })),
      )
      return open(id)
    },
    strays: async () => {
      const names = await Promise.all(
        controllers.map(async (controller) =>
          (await readdir(folder(controller), { withFileTypes: true }))
            .filter((entry) => entry.isDirectory())
            .map((entry) => entry.name),
        ),
      )
      return [...new Set(names.flat())].map(open)
    },
    close: async () => {
      for (const controller of controllers) await rmdir(folder(controller)).catch(gone(undefined))
    },
  }
}

/**
 * The kernel shares time between groups and single processes alike, so a group of many sandboxes
 * has to weigh as many processes, or it waits whenever the host is busy.
 */
const weigh = async (version: 'v1' | 'v2', v1: string[], v2: string[]) => {
  const weight = 8 * availableParallelism()
  const [files, text] =
    version === 'v1'
      ? [v1.map((dir) => path.join(dir, 'cpu.shares')), String(1024 * weight)]
      : [v2.map((dir) => path.join(dir, 'cpu.weight')), String(Math.min(10_000, 100 * weight))]
  // Without it sandboxes are slower on a busy host, and no less safe.
  for (const file of files) await writeFile(file, text).catch(() => undefined)
}

/** The nearest folder at or above this process's own group in which it may make groups. */
const writableV2 = async (root: string): Promise<string | undefined> => {
  const own = (await readFile('/proc/self/cgroup', 'utf8')).match(/^0::\/(.*)$/m)?.[1] ?? ''
  const above = own.split('/').filter(Boolean)
  // From the top down: a group that holds processes cannot hand controllers to groups below it.
  for (let depth = 0; depth < Math.max(above.length, 1); depth++) {
    const dir = path.join(root, ...above.slice(0, depth))
    try {
      await writeFile(path.join(dir, 'cgroup.subtree_control'), '+memory +pids +cpu')
      return dir
    } catch {
      // Not ours to divide: one further down may be.
    }
  }
  return undefined
}

const group = (version: 'v1' | 'v2', dir: (controller: string) => string): Group => {
  const { controllers, writes, oom } = versions[version]
  const pids = async () => {
    const text = await readFile(path.join(dir(controllers[0]), 'cgroup.procs'), 'utf8').catch(
      gone(''),
    )
    return text.split('\n').filter(Boolean).map(Number)
  }
  return {
    joins: controllers.map((controller) => path.join(dir(controller), 'cgroup.procs')),
    limit: async (caps) => {
      for (const { controller, file, text, optional } of writes(caps)) {
        const write = writeFile(path.join(dir(controller), file), text)
        await (optional ? write.catch(() => undefined) : write)
      }
    },
    pids,
    oomKills: async () => {
      const text = await readFile(path.join(dir(oom.controller), oom.file), 'utf8').catch(gone(''))
      return Number(text.match(/^oom_kill (\d+)$/m)?.[1] ?? 0)
    },
    destroy: async () => {
      for (let tries = 0; tries < 100; tries++) {
        for (const pid of await pids()) killQuietly(pid)
        const left = await Promise.all(
          controllers.map((controller) =>
            rmdir(dir(controller)).then(
              () => false,
              (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
            ),
          ),
        )
        if (!left.some(Boolean)) return
        await new Promise((resolve) => setTimeout(resolve, 5 + tries))
      }
      throw new Error(`control group ${dir(controllers[0])} could not be removed`)
    },
  }
}

/** A group that is gone has no processes and no counts. */
const gone =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT' || error.code === 'ENODEV') return value
    throw error
  }

const killQuietly = (pid: number) => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
