import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '#core/error.ts'
import { openGroups } from './cgroup.ts'
import type { Isolation } from './invoker.ts'
import { type Cage, launch } from './launch.ts'
import { findProgram } from './machine.ts'
import { type NetworkPolicy, openNetwork } from './network.ts'
import { seccompFilter } from './seccomp.ts'

export interface CageSettings {
  home: string
  /** Marks what is ours among the processes of the host. */
  label: string
  network: NetworkPolicy
  /** `required`: refuse to run anything that is not fully isolated. */
  isolation: 'required' | 'best-effort'
  /** Where a program is; the machine's own look-up unless it says otherwise. */
  find?: (name: string) => string | undefined
}

/** Find out what this machine can hold a sandbox with, by starting one. */
export const openCage = async (
  settings: CageSettings,
): Promise<{ cage: Cage; isolation: Isolation }> => {
  const { home, label, find = findProgram } = settings
  const lacking: string[] = []
  const parts: Record<string, string> = {}
  const cage: Cage = { home }

  const filter = seccompFilter(process.arch)
  const bwrap = find('bwrap')
  const unshare = find('unshare')
  const setpriv = find('setpriv')
  if (!bwrap) lacking.push(noBwrap)
  else {
    cage.bwrap = bwrap
    if (process.getuid?.() === 0 && unshare && setpriv) cage.root = { unshare, setpriv }
  }
  if (bwrap && filter) {
    cage.seccomp = path.join(home, 'seccomp.bpf')
    await mkdir(home, { recursive: true })
    await writeFile(cage.seccomp, filter)
  } else if (!filter) lacking.push(`there is no system call filter for ${process.arch}`)

  const groups = await openGroups(label)
  if (groups) cage.groups = groups
  else lacking.push('control groups for memory and processes cannot be made by this user')

  const failure = bwrap ? await tryOut(cage) : undefined
  if (failure) {
    delete cage.bwrap
    delete cage.root
    lacking.push(`a sandbox does not start: ${failure}`)
  }
  const allowed = lacking.length === 0 || settings.isolation === 'best-effort'

  const caged = cage.bwrap !== undefined
  if (caged && allowed && settings.network === 'public') {
    const network = await openNetwork(label).catch((error: unknown) => messageOf(error))
    if (typeof network === 'string') lacking.push(`there is no outbound network: ${network}`)
    else cage.network = network
  }
  parts.files = caged ? 'bubblewrap, own mount and user namespaces' : 'not isolated'
  parts.user = cage.root ? 'an unprivileged user for each sandbox' : 'the user of this process'
  parts['system calls'] = caged && cage.seccomp ? 'seccomp filter' : 'not filtered'
  parts.memory = groups ? `cgroup ${groups.version}` : 'not limited'
  parts.processes = groups ? `cgroup ${groups.version}` : 'rlimit of the user'
  parts.network = cage.network
    ? 'public internet only, by nftables'
    : caged
      ? 'none'
      : 'not isolated'
  return {
    cage,
    isolation: {
      allowed,
      enforced: lacking.length === 0,
      ...(lacking.length > 0 ? { reason: lacking.join('; ') } : {}),
      parts,
    },
  }
}

/** What can be said before a sandbox was tried. */
export const expectation = ({
  isolation,
}: Pick<CageSettings, 'isolation'>): Pick<Isolation, 'allowed' | 'enforced' | 'reason'> => {
  const lacking = findProgram('bwrap')
    ? process.getuid?.() === 0
      ? undefined
      : 'control groups and outbound network usually need root'
    : noBwrap
  return {
    allowed: lacking !== noBwrap || isolation === 'best-effort',
    enforced: lacking === undefined,
    ...(lacking ? { reason: lacking } : {}),
  }
}

const noBwrap = 'the program bwrap is missing (Debian package bubblewrap)'

/** Why a sandbox does not start; undefined when it does. */
const tryOut = async (cage: Cage): Promise<string | undefined> => {
  const launched = await launch(cage, {
    id: 'probe',
    slot: 0,
    command: ['/bin/true'],
    binds: [],
    env: {},
    memory: 64,
    scratch: 1,
    processes: 16,
    network: false,
  })
  let said = ''
  launched.stderr.on('data', (chunk) => {
    said += chunk
  })
  const code = await new Promise((resolve) => launched.child.once('close', resolve))
  await launched.kill()
  return code === 0 ? undefined : said.trim() || `exit ${code}`
}
