import type { Balancer, Global, Listener, Regional } from './model.ts'
import {
  backendOf,
  bindOf,
  checkLines,
  type Draft,
  frontendOf,
  generationFile,
  guards,
  hostOf,
  type Places,
} from './parts.ts'

/** A global balancer: one frontend for each port, one backend for each regional balancer. */
export const globalSections = (
  balancer: Balancer,
  settings: Global,
  places: Places,
  draft: Draft,
): void => {
  if (settings.cached) draft.lines.push(...cacheLines(balancer))
  for (const listener of balancer.listeners) {
    draft.lines.push(...frontend(balancer, settings, listener, places))
  }
  for (const regional of settings.levels.flat()) {
    const name = towards(balancer, regional)
    draft.lines.push(
      `backend ${name}`,
      '  mode http',
      ...checkLines({ ...balancer.health, protocol: 'tcp' }),
      `  timeout server ${balancer.idleSeconds}s`,
      '  http-reuse safe',
    )
    const line = `${hostOf(regional.address)}:${settings.port} ${serverArgs(settings)}`
    draft.servers.set(name, new Map([['regional', line]]))
  }
}

const towards = (balancer: Balancer, regional: Regional): string =>
  `g.${balancer.id}.${regional.id}`

const serverArgs = (settings: Global): string =>
  settings.protocol === 'http'
    ? ''
    : `ssl verify none sni req.hdr(host) alpn ${settings.protocol === 'http2' ? 'h2,' : ''}http/1.1`

/** Names of caches have at most 32 characters: a UUID without its dashes. */
const cacheOf = (balancer: Balancer): string => balancer.id.replaceAll('-', '').slice(0, 32)

const cacheLines = (balancer: Balancer): string[] => [
  `cache ${cacheOf(balancer)}`,
  '  total-max-size 64',
  '  max-object-size 4194304',
  '  max-age 3600',
]

const frontend = (
  balancer: Balancer,
  settings: Global,
  listener: Listener,
  places: Places,
): string[] => [
  `frontend ${frontendOf(balancer.id, listener.port)}`,
  '  mode http',
  `  bind ${bindOf(balancer, listener, places)}`,
  ...guards(balancer),
  `  timeout client ${balancer.idleSeconds}s`,
  '  timeout http-request 10s',
  '  option forwardfor',
  ...(balancer.redirectToHttps && listener.protocol === 'http'
    ? ['  http-request redirect scheme https code 307']
    : []),
  ...(settings.cached ? cacheRules(balancer, places) : []),
  ...choice(balancer, settings),
]

/**
 * The cache is emptied by a number that is part of every key: the address of a request carries it
 * while the cache looks, and not when it goes on.
 */
const cacheRules = (balancer: Balancer, places: Places): string[] => [
  `  http-request set-var(txn.generation) str(${balancer.id}),map(${generationFile(places)},0)`,
  '  http-request set-var(txn.asked) url',
  '  http-request set-uri /%[var(txn.generation)]%[url]',
  `  http-request cache-use ${cacheOf(balancer)}`,
  '  http-request set-uri %[var(txn.asked)]',
  `  http-response cache-store ${cacheOf(balancer)}`,
  '  http-after-response set-header x-cache HIT if { res.cache_hit }',
  '  http-after-response set-header x-cache MISS if !{ res.cache_hit }',
]

/** The first level with a regional balancer that is well enough; within a level by lot. */
const choice = (balancer: Balancer, settings: Global): string[] => {
  const lines: string[] = []
  for (const level of settings.levels) {
    for (const [index, regional] of level.entries()) {
      const left = level.length - index
      const lot = left > 1 ? ` { rand(${left}) eq 0 }` : ''
      lines.push(
        `  use_backend ${towards(balancer, regional)} if ${isWell(settings, regional)}${lot}`,
      )
    }
    // The lot may have passed over the only one that is well.
    for (const regional of level.slice(0, -1)) {
      lines.push(`  use_backend ${towards(balancer, regional)} if ${isWell(settings, regional)}`)
    }
  }
  // Nobody is well enough: then whoever has a single target left, before nobody at all.
  for (const regional of settings.levels.flat()) {
    const alive = `{ nbsrv(${backendOf(regional.id, settings.port)}) ge 1 }`
    lines.push(`  use_backend ${towards(balancer, regional)} if ${alive}`)
  }
  return lines
}

const isWell = (settings: Global, regional: Regional): string => {
  const needed = Math.floor(regional.targets * (1 - settings.threshold / 100)) + 1
  return `{ nbsrv(${backendOf(regional.id, settings.port)}) ge ${needed} }`
}
