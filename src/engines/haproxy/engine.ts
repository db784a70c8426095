import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '#core/error.ts'
import { shapeOf, stateFile, textOf } from './config.ts'
import type { Applied, Balancer, TargetHealth } from './model.ts'
import { generationFile, type Places, type Section } from './parts.ts'
import { createProcess, faultOf } from './process.ts'
import { createUdpRelays } from './relays.ts'
import { sectionOf, targetOf } from './render.ts'
import { command, commands } from './runtime.ts'
import { createServers } from './servers.ts'

export interface LoadBalancerEngine {
  /** Whether this machine can balance at all. */
  probe(): Promise<Applied>
  /** Begin with these balancers; a process that an earlier start left behind goes on serving. */
  start(balancers: Balancer[]): Promise<void>
  /** Bring a balancer about; resolves when it is in force or is known not to be. */
  put(balancer: Balancer): Promise<Applied>
  remove(id: string): Promise<void>
  /** Forget what the cache of a global balancer holds. */
  purge(id: string): Promise<void>
  health(id: string): Promise<TargetHealth[]>
  stop(): Promise<void>
}

export interface EngineOptions {
  home: string
  log: (message: string) => void
}

/** Folders of system programs are not on everybody's PATH. */
const usualPlaces = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy']

export const createHaproxy = (options: EngineOptions): LoadBalancerEngine => {
  const program = usualPlaces.find((place) => existsSync(place)) ?? 'haproxy'
  const places: Places = { home: options.home, runtime: runtimeFolder(options.home) }
  const sockets = {
    master: join(places.runtime, 'master.sock'),
    runtime: join(places.runtime, 'runtime.sock'),
  }
  const config = join(places.home, 'haproxy.cfg')
  const haproxy = createProcess({
    program,
    config,
    ...sockets,
    logFile: join(places.home, 'haproxy.log'),
    log: options.log,
  })
  const servers = createServers(sockets.runtime)
  const relays = createUdpRelays(() => command(sockets.runtime, 'show stat'))

  const desired = new Map<string, Balancer>()
  /** The last section of each balancer that HAProxy accepted. */
  const good = new Map<string, Section>()
  const outcomes = new Map<string, Applied>()
  /** What an adopted process listens on already. */
  let held = new Set<string>()
  let shape = ''
  let started = false
  let beginning: Promise<void> | undefined
  let round: Promise<void> | undefined
  let next: Promise<void> | undefined

  /** Changes that come while one is being made are made together, next. */
  const sync = (): Promise<void> => {
    if (next) return next
    const begin = async (): Promise<void> => {
      await round?.catch(() => undefined) // its own caller hears of it
      next = undefined
      round = converge()
      await round
    }
    next = begin()
    return next
  }

  const converge = async (): Promise<void> => {
    const sections = await sectionsToServe()
    const wanted = shapeOf(places, sockets, sections)
    await writeCertificates(sections)
    if (started && wanted === shape && haproxy.alive()) {
      await servers.change(sections)
      await write(config, textOf(places, sockets, sections))
    } else {
      await replace(sections)
      shape = wanted
    }
    for (const section of sections) good.set(section.id, section)
    await relays.put([...desired.values()])
    for (const [id, reason] of relays.problems()) outcomes.set(id, { enforced: false, reason })
  }

  /** Every balancer's section, or its last good one where the new one cannot be. */
  const sectionsToServe = async (): Promise<Section[]> => {
    const sections = new Map([...desired].map(([id, one]) => [id, sectionOf(one, places)]))
    const changed = [...sections.values()].filter(
      (section) => section.lines.join('\n') !== good.get(section.id)?.lines.join('\n'),
    )
    const refuse = (id: string, reason: string): void => {
      outcomes.set(id, { enforced: false, reason })
      const before = good.get(id)
      if (before) sections.set(id, before)
      else sections.delete(id)
    }
    for (const id of desired.keys()) outcomes.set(id, { enforced: true })
    for (const section of changed) {
      const taken = await portProblem(section, good.get(section.id), held)
      if (taken) refuse(section.id, taken)
    }
    if (changed.length === 0) return [...sections.values()]
    if (!(await fault([...sections.values()]))) return [...sections.values()]
    // Something is wrong with one of the changed ones: find out which.
    for (const section of changed) {
      if (sections.get(section.id) !== section) continue
      const others = [...sections.values()].filter((other) => !changed.includes(other))
      const problem = await fault([...others, section])
      if (problem) refuse(section.id, problem)
    }
    return [...sections.values()]
  }

  const fault = async (sections: Section[]): Promise<string | undefined> => {
    await writeCertificates(sections)
    const candidate = `${config}.new`
    await write(candidate, textOf(places, sockets, sections))
    return faultOf(program, candidate)
  }

  const replace = async (sections: Section[]): Promise<void> => {
    const before = await readFile(config, 'utf8').catch(() => undefined) // the first has none before
    await write(config, textOf(places, sockets, sections))
    if (!started) {
      await haproxy.start()
    } else {
      // What is known to be down stays down in the new process.
      await write(stateFile(places), await command(sockets.runtime, 'show servers state'))
      try {
        await haproxy.reload()
      } catch (error) {
        if (before !== undefined) await write(config, before)
        throw error
      }
    }
    servers.adopt(sections)
  }

  const writeCertificates = async (sections: readonly Section[]): Promise<void> => {
    for (const section of sections) {
      for (const [file, pem] of section.certificates) {
        if (servers.hasCertificate(file, pem)) continue
        await write(file, pem)
      }
    }
  }

  /** Folders, files and the process itself, once somebody needs them. */
  const begin = async (): Promise<void> => {
    await mkdir(join(places.runtime, 'certificates'), { recursive: true, mode: 0o700 })
    await mkdir(places.home, { recursive: true, mode: 0o700 })
    await chmod(places.runtime, 0o700)
    await writeFile(generationFile(places), '', { flag: 'a' })
    await writeFile(stateFile(places), '', { flag: 'a' })
    await writeFile(join(places.home, 'haproxy.log'), '', { mode: 0o600 })
    if (await haproxy.leftBehind()) {
      held = new Set((await readFile(config, 'utf8')).split('\n').flatMap(bindsOf))
    }
    await sync()
    held.clear()
    started = true
  }

  const begun = (): Promise<void> => {
    beginning ??= begin().catch((error) => {
      beginning = undefined
      throw error
    })
    return beginning
  }

  const probe = async (): Promise<Applied> =>
    (await runs(program)) ? { enforced: true } : { enforced: false, reason: missing }

  return {
    probe,
    async start(balancers) {
      for (const balancer of balancers) desired.set(balancer.id, balancer)
      if ((await probe()).enforced) await begun()
    },
    async put(balancer) {
      if (!started) {
        const able = await probe()
        if (!able.enforced) return able
      }
      desired.set(balancer.id, balancer)
      try {
        await begun()
        await sync()
      } catch (error) {
        return { enforced: false, reason: messageOf(error) }
      }
      return outcomes.get(balancer.id) ?? { enforced: false, reason: 'It was removed meanwhile.' }
    },
    async remove(id) {
      desired.delete(id)
      good.delete(id)
      outcomes.delete(id)
      if (started) await sync()
    },
    async purge(id) {
      if (!started) return
      const file = generationFile(places)
      const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
      const rest = lines.filter((line) => !line.startsWith(`${id} `))
      const present = rest.length < lines.length
      const generation = Date.now()
      await write(file, `${[...rest, `${id} ${generation}`].join('\n')}\n`)
      await commands(sockets.runtime, [
        `${present ? 'set' : 'add'} map ${file} ${id} ${generation}`,
      ])
    },
    async health(id) {
      const found: TargetHealth[] = []
      if (!started) return found
      for (const line of (await command(sockets.runtime, 'show stat')).split('\n')) {
        const [backend = '', server = '', ...columns] = line.split(',')
        const [, owner, port] = /^[bu]\.(.+)\.(\d+)$/.exec(backend) ?? []
        if (owner !== id || server === 'BACKEND') continue
        found.push({
          target: targetOf(server),
          port: Number(port),
          up: columns[15]?.startsWith('UP') ?? false,
        })
      }
      return found
    },
    async stop() {
      if (!beginning) return
      await beginning.catch(() => undefined) // its own caller hears of it
      started = false
      beginning = undefined
      relays.close()
      await next?.catch(() => undefined) // its own caller hears of it
      await haproxy.stop()
      await rm(places.runtime, { recursive: true, force: true })
    },
  }
}

const missing =
  'HAProxy is not installed on this machine, so nothing listens; install the Debian package haproxy.'

const runs = (program: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(program, ['-v'], (error) => resolve(!error))
  })

/** Keys and sockets live in memory, never on a disk; the name tells whose they are. */
const runtimeFolder = (home: string): string => {
  const name = `cove-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`
  try {
    accessSync('/dev/shm', constants.W_OK)
    return join('/dev/shm', name)
  } catch {
    return join(tmpdir(), name)
  }
}

const write = async (file: string, text: string): Promise<void> => {
  const draft = `${file}.draft`
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, file)
}

/** Why a balancer cannot listen where it would have to, asked of the system before HAProxy is. */
const portProblem = async (
  section: Section,
  before: Section | undefined,
  adopted: ReadonlySet<string>,
): Promise<string | undefined> => {
  const held = new Set([...adopted, ...(before?.lines.flatMap(bindsOf) ?? [])])
  for (const bind of section.lines.flatMap(bindsOf)) {
    if (held.has(bind)) continue
    const at = bind.lastIndexOf(':')
    const problem = await tryToListen(bind.slice(0, at), Number(bind.slice(at + 1)))
    if (problem) return problem
  }
  return undefined
}

const bindsOf = (line: string): string[] => {
  const [, where] = /^ {2}bind (\S+)/.exec(line) ?? []
  return where ? [where] : []
}

const tryToListen = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'EACCES'
          ? `Port ${port} may be opened by root only on this machine.`
          : `${host}:${port} cannot be listened on: ${error.message}.`,
      ),
    )
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
