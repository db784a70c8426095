import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { builtFile } from '#core/built.ts'
import { type AcmeSettings, acmeIssuer, localIssuer } from '#engines/certificates/issuer.ts'
import { openVault } from '#engines/certificates/vault.ts'
import { type DnsServer, startDnsServer } from '#engines/dns/server.ts'
import { createDoors } from '#engines/fabric/doors.ts'
import { createFabric, type Fabric, type FabricOptions } from '#engines/fabric/fabric.ts'
import { createHaproxy, type LoadBalancerEngine } from '#engines/haproxy/engine.ts'
import type { Applied } from '#engines/haproxy/model.ts'
import type { Kernel, Service } from '#platform/service.ts'
import { dropletService } from './compute/droplets/platform.ts'
import { byoipService } from './networking/byoip/platform.ts'
import { certificateService } from './networking/certificates/platform.ts'
import { domainService } from './networking/domains/platform.ts'
import { createPublisher, type Publisher } from './networking/domains/publisher.ts'
import { firewallService } from './networking/firewalls/platform.ts'
import { createInside } from './networking/load-balancers/inside.ts'
import { loadBalancerService } from './networking/load-balancers/platform.ts'
import { wholeNetwork } from './networking/plan.ts'
import { reservedIpService } from './networking/reserved-ips/platform.ts'
import { vpcPeeringService } from './networking/vpc-peerings/platform.ts'
import { vpcService } from './networking/vpcs/platform.ts'

export interface NetworkOptions {
  dns: {
    host: string
    /** The port to serve on; without one 53 where it is free, else any. */
    port?: number
    /** Wait with the server until there is a domain. */
    lazy?: boolean
  }
  /** Where certificates come from; without it Cove's own authority issues them. */
  acme?: AcmeSettings
  /** How the network of instances is made. */
  fabric: { mode: 'auto' | 'root' | 'rootless' | 'none'; spawn?: FabricOptions['spawn'] }
}

/** The services of the network and the engines they share. */
export const networkService =
  (options: NetworkOptions): Service =>
  (on, kernel) => {
    const dns = createDns(options.dns, kernel)
    domainService(dns)(on, kernel)
    const vault = once(() => openVault(kernel.folder('certificates')))
    const issuer = once(async () => {
      const folder = kernel.folder('certificates')
      if (!options.acme) return localIssuer(folder, kernel.clock.now)
      return acmeIssuer(options.acme, { folder, vault: await vault(), sleep })
    })
    certificateService({ vault, issuer, publisher: dns.publisher })(on, kernel)
    kernel.report('certificates', () => ({ state: 'running', enforced: true }))
    const fabric = openFabric(options.fabric, kernel)
    const inside = createInside(fabric, createDoors(fabric, options.fabric.spawn))
    const engine = createHaproxy({ home: kernel.folder('load-balancers'), log: kernel.log.warn })
    loadBalancerService({ engine, vault, inside })(on, kernel)
    reportBalancers(kernel, engine)
    for (const service of [
      dropletService,
      vpcService,
      vpcPeeringService,
      firewallService,
      reservedIpService,
      byoipService,
    ]) {
      service(fabric)(on, kernel)
    }
  }

/** HAProxy is looked for at the start: what was missing then can be told at any time. */
const reportBalancers = (kernel: Kernel, engine: LoadBalancerEngine): void => {
  let found: Applied = { enforced: true }
  kernel.onStart(async () => {
    found = await engine.probe()
  })
  kernel.report('load balancers', () => ({
    state: 'running',
    enforced: found.enforced,
    ...(found.reason && { reason: found.reason, fix: 'apt-get install haproxy' }),
  }))
}

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

const openFabric = (options: NetworkOptions['fabric'], kernel: Kernel): Fabric => {
  const owner = createHash('sha256').update(kernel.folder('network')).digest('hex').slice(0, 24)
  const fabric = createFabric({ ...options, owner, log: kernel.log.warn })
  kernel.onStart(async () => fabric.start(await wholeNetwork(kernel.store)))
  kernel.onStop(() => fabric.close())
  kernel.report('network fabric', () => {
    const { mode, enforced, reason, fix } = fabric.standing()
    return {
      state: enforced ? 'running' : 'off',
      enforced,
      reason: reason ?? `mode ${mode}`,
      ...(fix !== undefined && { fix }),
    }
  })
  return fabric
}

interface Dns {
  publisher: Publisher
  running: () => DnsServer | undefined
}

const createDns = (options: NetworkOptions['dns'], kernel: Kernel): Dns => {
  let server: DnsServer | undefined
  let starting: Promise<DnsServer> | undefined

  const start = async (): Promise<DnsServer> => {
    const remembered = join(kernel.folder('dns'), 'port')
    server = await startDnsServer({
      host: options.host,
      ports: options.port === undefined ? [53, ...readPort(remembered), 0] : [options.port],
      load: () => publisher.load(options.host),
      startThread: (workerData) => new Worker(builtFile('dns.worker.js'), { workerData }),
      log: kernel.log.warn,
    })
    writeFileSync(remembered, String(server.port))
    kernel.facts.dns = { host: server.host, port: server.port }
    return server
  }
  const running = (): Promise<DnsServer> => {
    starting ??= start()
    return starting
  }

  const publisher = createPublisher(kernel.store, running)
  kernel.onStart(async () => {
    const needed = !options.lazy || (await publisher.load(options.host)).length > 1
    if (needed) await running()
  })
  kernel.onStop(async () => {
    await starting?.catch(() => undefined) // a start that failed has told so
    await server?.close()
  })
  kernel.report('domains', () => ({
    state: server || options.lazy ? 'running' : 'starting',
    enforced: true,
  }))
  return { publisher, running: () => server }
}

/** The port of the last start, so that people who wrote it down still find us there. */
const readPort = (file: string): number[] => {
  try {
    return [Number(readFileSync(file, 'utf8'))]
  } catch {
    return [] // the first start
  }
}
