import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { createApi } from '#client/client.ts'
import { issuesOf } from '#core/schema.ts'
import { createCove } from '#main.ts'
import type { Confirm } from '#mcp/calls.ts'
import { systemClock } from '#platform/clock.ts'
import { jsonLog } from '#platform/log.ts'
import { openStore } from '#platform/store/open.ts'
import { consoleLinks } from '#services/cove/console/contract.ts'
import { DeclaredProvider } from '#services/genai/providers/contract.ts'
import type { NetworkOptions } from '#services/network.ts'
import type { FunctionOptions } from '#services/serverless.ts'
import { version } from '#version.ts'
import { command } from './command.ts'
import { connectText } from './connect.ts'
import { lockHome, removeFacts, writeFacts } from './daemon.ts'
import { ownerToken, prepareHome } from './home.ts'
import { listen } from './listen.ts'
import { UsageError } from './values.ts'

export const up = command({
  about: 'Run Cove here: the cloud, its API and the tool server.',
  usage: '',
  settings: [
    'host',
    'port',
    'any-port',
    'allow-host',
    'allow-origin',
    'token',
    'services',
    'tools',
    'exclude-tools',
    'read-only',
    'confirm',
    'answer-limit',
    'database-url',
    'rate-limit',
    'dns-host',
    'dns-port',
    'functions-isolation',
    'functions-network',
    'functions-memory',
    'functions-retention',
    'acme-directory',
    'acme-contact',
    'acme-trust',
    'providers',
    'fabric',
  ],
  examples: [
    'cove up',
    'cove up --port 9000 --services databases,networking',
    'COVE_HOME=/srv/cove cove up --host 0.0.0.0 --allow-host cloud.example.com',
  ],
  run: async ({ values, home, positionals }, terminal) => {
    if (positionals.length > 0) throw new UsageError(`cove up takes no "${positionals[0]}".`)
    prepareHome(home)
    const rateLimit = rateLimitOf(values['rate-limit'])
    const lock = await lockHome(home)
    const token = ownerToken(home, values.token)
    let url = ''
    const log = jsonLog((line) => process.stderr.write(line))
    const databaseUrl = values['database-url']
    const cove = createCove({
      home,
      token,
      store: await openStore(join(home, 'cove.db'), { databaseUrl, log: log.warn }),
      clock: systemClock,
      ids: { uuid: randomUUID, secret: (bytes) => randomBytes(bytes).toString('hex') },
      log,
      rateLimit,
      wish: {
        services: values.services,
        tools: values.tools,
        excludeTools: values['exclude-tools'],
        readOnly: values['read-only'],
      },
      confirm: values.confirm as Confirm,
      answerLimit: values['answer-limit'],
      allowHosts: [...values['allow-host'], ...(isWildcard(values.host) ? [] : [values.host])],
      allowOrigins: values['allow-origin'],
      url: () => url,
      env: terminal.env,
      providers: providersOf(values.providers),
      network: {
        dns: {
          host: values['dns-host'],
          ...(values['dns-port'] !== undefined && { port: values['dns-port'] }),
        },
        fabric: { mode: values.fabric as NetworkOptions['fabric']['mode'] },
        ...(values['acme-directory'] !== undefined && {
          acme: {
            directory: values['acme-directory'],
            ...(values['acme-contact'] !== undefined && { contact: values['acme-contact'] }),
            ...(values['acme-trust'] !== undefined && { trustFile: values['acme-trust'] }),
          },
        }),
      },
      functions: {
        isolation: values['functions-isolation'] as FunctionOptions['isolation'],
        network: values['functions-network'] as FunctionOptions['network'],
        retention: values['functions-retention'] * 3_600_000,
        ...(values['functions-memory'] ? { memory: values['functions-memory'] } : {}),
      },
    })
    const server = await listen(cove.fetch, {
      host: values.host,
      port: values.port,
      anyPort: values['any-port'],
    })
    url = server.url
    await cove.start()
    writeFacts(home, { url, pid: process.pid, version })
    const api = createApi({ baseUrl: url, token, fetch: cove.platform.fetch })
    const { url: link } = await api(consoleLinks.create, {})
    const tokenFromEnv = values.token !== undefined
    terminal.out(connectText({ url, home, tokenFromEnv, version, link }))

    await untilAsked()
    terminal.out('Stopping.\n')
    removeFacts(home)
    await server.close()
    await cove.stop()
    lock.close()
    return 0
  },
})

/** Providers as config.json declares them, checked before anything starts. */
const providersOf = (given: Record<string, unknown> | undefined) => {
  const parsed = z.record(z.string(), DeclaredProvider).safeParse(given ?? {})
  if (parsed.success) return parsed.data
  throw new UsageError(`config.json: ${issuesOf(parsed.error, 'providers')}.`)
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

const rateLimitOf = (text: string): number | 'off' => {
  if (text === 'off') return 'off'
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new UsageError(
    `--rate-limit must be a number of requests a minute or "off", not "${text}".`,
  )
}

const untilAsked = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
