import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { builtFile } from '#core/built.ts'
import { type DnsServer, startDnsServer } from '#engines/dns/server.ts'
import type { Kernel, Service } from '#platform/service.ts'
import { domainService } from './networking/domains/platform.ts'
import { createPublisher, type Publisher } from './networking/domains/publisher.ts'

export interface NetworkOptions {
  dns: {
    host: string
    /** The port to serve on; without one 53 where it is free, else any. */
    port?: number
    /** Wait with the server until there is a domain. */
    lazy?: boolean
  }
}

/** The services of the network and the engines they share. */
export const networkService =
  (options: NetworkOptions): Service =>
  (on, kernel) => {
    const dns = createDns(options.dns, kernel)
    domainService(dns)(on, kernel)
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
