import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#core/error.ts'
import { shapeOf, stateFile, textOf } from './config.ts'
import { prepare, runtimeFolder, write } from './files.ts'
import type { Applied, Balancer, TargetHealth } from './model.ts'
import { generationFile, type Places, type Section } from './parts.ts'
import { bindsOf, portProblem } from './ports.ts'
import { createProcess, faultOf } from './process.ts'
import { findProgram, probe } from './program.ts'
import { createUdpRelays } from './relays.ts'
import { sectionOf } from './render.ts'
import { command, commands } from './runtime.ts'
import { createServers } from './servers.ts'
import { healthIn, whatIsDown } from './stats.ts'

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

export const createHaproxy = (options: EngineOptions): LoadBalancerEngine => {
  const program = findProgram()
  const places: Places = { home: options.home, runtime: runtimeFolder(options.home) }
  const sockets = {
    master: join(places.runtime, 'master.sock'),
    runtime: join(places.runtime, 'runtime.sock'),
  }
  const config = join(places.home, 'haproxy.cfg')
  const logFile = join(places.home, 'haproxy.log')
  const haproxy = createProcess({
    program,
    config,
    ...sockets,
    logFile,
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
    if (!started || wanted !== shape || !(await changeRunning(sections))) {
      await replace(sections)
      shape = wanted
    }
    good.clear()
    for (const section of sections) good.set(section.id, section)
    await relays.put([...desired.values()])
    for (const [id, reason] of relays.problems()) outcomes.set(id, { enforced: false, reason })
  }

  /** False when the process did not take a change, and so has to be given the whole. */
  const changeRunning = async (sections: Section[]): Promise<boolean> => {
    if (!haproxy.alive()) return false
    await write(config, textOf(places, sockets, sections))
    try {
      await servers.change(sections)
      return true
    } catch (error) {
      options.log(messageOf(error))
      return false
    }
  }

  /** One that did not change need not be rendered again. */
  const rendered = new WeakMap<Balancer, Section>()
  const render = (balancer: Balancer): Section => {
    const section = rendered.get(balancer) ?? sectionOf(balancer, places)
    rendered.set(balancer, section)
    return section
  }

  /** Every balancer's section, or its last good one where the new one cannot be. */
  const sectionsToServe = async (): Promise<Section[]> => {
    const sections = new Map([...desired].map(([id, one]) => [id, render(one)]))
    const changed = [...sections.values()].filter((section) => {
      const before = good.get(section.id)
      return section !== before && section.shape !== before?.shape
    })
    const refuse = (id: string, reason: string): void => {
      outcomes.set(id, { enforced: false, reason })
      const before = good.get(id)
      if (before) sections.set(id, before)
      else sections.delete(id)
    }
    // One that is gone stays while a global balancer still asks about it.
    for (const id of [...sections.values()].flatMap(({ refersTo }) => refersTo)) {
      const kept = good.get(id)
      if (kept && !sections.has(id)) sections.set(id, kept)
    }
    for (const id of desired.keys()) outcomes.set(id, { enforced: true })
    for (const section of changed) {
      const taken = await portProblem(section, good.get(section.id), held)
      if (taken) refuse(section.id, taken)
    }
    /** A section with those it refers to: enough to find its faults, however many there are. */
    const alone = (section: Section): Section[] => [
      section,
      ...section.refersTo.flatMap((id) => sections.get(id) ?? []),
    ]
    const open = changed.filter((section) => sections.get(section.id) === section)
    const together = [...new Set(open.flatMap(alone))]
    if (together.length === 0 || !(await fault(together))) return [...sections.values()]
    // Something is wrong with one of them: find out which.
    for (const section of open) {
      const problem = await fault(alone(section))
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
      await haproxy.untilAlive()
      const states = await command(sockets.runtime, 'show servers state')
      await write(stateFile(places), whatIsDown(states))
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
    await prepare(places, logFile)
    if (await haproxy.leftBehind()) {
      held = new Set(bindsOf(await readFile(config, 'utf8')))
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

  return {
    probe: () => probe(program),
    async start(balancers) {
      for (const balancer of balancers) desired.set(balancer.id, balancer)
      if ((await probe(program)).enforced) await begun()
    },
    async put(balancer) {
      if (!started) {
        const able = await probe(program)
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
      outcomes.delete(id)
      if (started) await sync()
    },
    async purge(id) {
      if (!started) return
      const file = generationFile(places)
      const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
      const present = lines.find((line) => line.startsWith(`${id} `))
      const entry = `${id} ${Number(present?.split(' ')[1] ?? 0) + 1}`
      const rest = lines.filter((line) => line !== present)
      await write(file, `${[...rest, entry].join('\n')}\n`)
      await commands(sockets.runtime, [`${present ? 'set' : 'add'} map ${file} ${entry}`])
    },
    health: async (id) =>
      started ? healthIn(await command(sockets.runtime, 'show stat'), id) : [],
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
