import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { Group, Groups } from './cgroup.ts'
import type { Network } from './network.ts'

/** What the machine can do, found out once. */
export interface Cage {
  /** Undefined: plain processes, only where the operator said so. */
  bwrap?: string
  /** Programs that give a sandbox a user of its own; only for root, with bwrap. */
  root?: { unshare: string; setpriv: string }
  groups?: Groups
  network?: Network
  /** File with the system call filter. */
  seccomp?: string
  /** Folder of everything that is bound from; may be closed to other users. */
  home: string
}

export interface LaunchSpec {
  id: string
  /** A number no other sandbox of this process has now. */
  slot: number
  command: string[]
  /** Folders of the host to show read-only: host path → sandbox path. */
  binds: [from: string, to: string][]
  /** Folders of the host that may be written. */
  writable?: [from: string, to: string][]
  /** Root file system instead of the host's programs. */
  rootfs?: string
  env: Record<string, string>
  dir?: string
  memory: number
  /** MB of /tmp */
  scratch: number
  processes: number
  /** Cores; one unless it says otherwise. */
  cpus?: number
  network: boolean
}

export interface Launched {
  child: ChildProcess
  input: Writable
  stdout: Readable
  stderr: Readable
  answers: Readable
  group?: Group
  /** Resolves when the network is there, if one was asked for. */
  connected: Promise<void>
  /** The first process inside, as the host counts. */
  inner: Promise<number>
  /** Whether the kernel ended it for lack of memory. */
  outOfMemory(): Promise<boolean>
  kill(): Promise<void>
}

const openFiles = 1024
const firstUser = 0x40000000
/** The host's user that the sandbox in a slot runs as, where Cove may choose. */
export const userOf = (slot: number): number => firstUser + slot
/** Where the home is seen by a user who may not walk there. */
const window = '/mnt'

/** `$1` files to join, `$2` the home, `$3` the limit of processes, `$4…` what to run. */
const script = (window: string | undefined) =>
  [
    'for f in $1; do echo $$ > "$f" || exit 125; done',
    window ? `mount --bind "$2" ${window} || exit 125` : '',
    `ulimit -n ${openFiles}`,
    'ulimit -c 0',
    '[ -z "$3" ] || ulimit -p "$3" 2>/dev/null || ulimit -u "$3"',
    'shift 3',
    'exec "$@"',
  ]
    .filter(Boolean)
    .join('\n')

export const launch = async (cage: Cage, spec: LaunchSpec): Promise<Launched> => {
  const group = await cage.groups?.create(spec.id)
  await group?.limit({ memory: spec.memory, processes: spec.processes, cpus: spec.cpus ?? 1 })

  const user = String(userOf(spec.slot))
  const inside = cage.bwrap
    ? [cage.bwrap, ...sandboxArguments(cage, spec), ...spec.command]
    : spec.command.map((part) => outside(spec, part))
  const unprivileged = cage.root
    ? [cage.root.setpriv, `--reuid=${user}`, `--regid=${user}`, '--clear-groups', ...inside]
    : inside
  const shell = [
    '/bin/sh',
    '-c',
    script(cage.root ? window : undefined),
    'sh',
    group?.joins.join(' ') ?? '',
    cage.home,
    group ? '' : String(spec.processes),
    ...unprivileged,
  ]
  const [file = '', ...args] = cage.root
    ? [cage.root.unshare, '--mount', '--propagation', 'private', ...shell]
    : shell

  const filter = cage.bwrap && cage.seccomp ? openSync(cage.seccomp, 'r') : undefined
  const child = spawn(file, args, {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', filter ?? 'ignore'],
    env: cage.bwrap ? {} : spec.env,
    ...(cage.bwrap ? {} : { cwd: outside(spec, spec.dir ?? cage.home) }),
  })
  if (filter !== undefined) closeSync(filter)

  const [input, stdout, stderr, answers, info] = child.stdio as [
    Writable,
    Readable,
    Readable,
    Readable,
    Readable,
  ]
  // A sandbox that ends while a line is written to it is told by its exit.
  input.on('error', () => undefined)
  child.on('error', () => undefined)

  const inner = cage.bwrap ? childOf(info) : Promise.resolve(child.pid ?? 0)
  const connected =
    spec.network && cage.network
      ? inner.then((pid) => cage.network?.attach(pid, spec.slot))
      : Promise.resolve()
  // Both are awaited by whoever needs them; a sandbox that died first fails there.
  inner.catch(() => undefined)
  connected.catch(() => undefined)

  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  let ended: Promise<void> | undefined
  const end = async () => {
    child.kill('SIGKILL')
    await group?.destroy()
    await exited
  }
  return {
    child,
    input,
    stdout,
    stderr,
    answers,
    ...(group ? { group } : {}),
    inner,
    connected,
    outOfMemory: async () => ((await group?.oomKills()) ?? 0) > 0,
    kill: () => {
      ended ??= end()
      return ended
    },
  }
}

/** A path of the sandbox on the host, for processes that run without one. */
export const outside = ({ binds, writable = [] }: LaunchSpec, text: string): string => {
  const bind = [...binds, ...writable].find(([, to]) => text === to || text.startsWith(`${to}/`))
  return bind ? bind[0] + text.slice(bind[1].length) : text
}

/** `--info-fd` tells the first process in one JSON object. */
const childOf = async (info: Readable): Promise<number> => {
  let text = ''
  for await (const chunk of info) text += chunk
  const pid: unknown = JSON.parse(text || '{}')['child-pid']
  if (typeof pid !== 'number') throw new Error('the sandbox did not start')
  return pid
}

const sandboxArguments = (cage: Cage, spec: LaunchSpec): string[] => {
  const seen = (from: string) =>
    cage.root && from.startsWith(`${cage.home}/`) ? window + from.slice(cage.home.length) : from
  return [
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    '--die-with-parent',
    '--new-session',
    '--uid',
    '1000',
    '--gid',
    '1000',
    '--hostname',
    'function',
    '--clearenv',
    ...(spec.rootfs ? ['--ro-bind', seen(spec.rootfs), '/'] : systemFolders),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--size',
    String(spec.scratch * 1024 * 1024),
    '--tmpfs',
    '/tmp',
    ...spec.binds.flatMap(([from, to]) => ['--ro-bind', seen(from), to]),
    ...(spec.writable ?? []).flatMap(([from, to]) => ['--bind', seen(from), to]),
    ...Object.entries(spec.env).flatMap(([name, value]) => ['--setenv', name, value]),
    '--chdir',
    spec.dir ?? '/tmp',
    '--remount-ro',
    '/',
    '--info-fd',
    '4',
    ...(cage.seccomp ? ['--seccomp', '5'] : []),
    '--',
  ]
}

/** The host's programs without what its owner put there by hand. */
const systemFolders = [
  ...['--ro-bind', '/usr', '/usr'],
  ...['--tmpfs', '/usr/local', '--tmpfs', '/usr/src'],
  ...['--symlink', 'usr/bin', '/bin', '--symlink', 'usr/sbin', '/sbin'],
  ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
  ...['--ro-bind-try', '/etc/ssl/certs', '/etc/ssl/certs'],
  ...['--ro-bind-try', '/etc/ssl/openssl.cnf', '/etc/ssl/openssl.cnf'],
  ...['--ro-bind-try', '/etc/alternatives', '/etc/alternatives'],
  ...['--ro-bind-try', '/etc/php', '/etc/php'],
  ...['--ro-bind-try', '/etc/localtime', '/etc/localtime'],
]
