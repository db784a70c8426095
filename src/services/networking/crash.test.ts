import { execFile } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { type Api, createApi } from '#client/client.ts'
import { newHome, type Running, startCove } from '../../../test/process.ts'
import { ownAddress } from '../../../test/site.ts'
import { droplets } from '../compute/droplets/contract.ts'
import { domainRecords, domains } from './domains/contract.ts'
import { loadBalancers } from './load-balancers/contract.ts'

const run = promisify(execFile)
const home = newHome()
const address = ownAddress()
const site = createServer((_request, response) => response.end('still here'))
let cove: Running | undefined

afterAll(async () => {
  await cove?.stop()
  site.close()
})

const apiOf = ({ url, token }: Running): Api =>
  createApi({ baseUrl: url, token, fetch: (request) => fetch(request), attempts: 1 })

const dnsOf = async ({ url, token }: Running): Promise<Resolver> => {
  const response = await fetch(`${url}/v2/cove/status`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { dns } = (await response.json()) as { dns: { host: string; port: number } }
  const resolver = new Resolver({ timeout: 1000, tries: 2 })
  resolver.setServers([`${dns.host}:${dns.port}`])
  return resolver
}

/** HAProxy processes of this home. */
const balancing = async (): Promise<string[]> => {
  const { stdout } = await run('pgrep', ['-f', `${home}/load-balancers/haproxy.cfg`]).catch(() => ({
    stdout: '',
  }))
  return stdout.split('\n').filter((line) => line !== '')
}

const ask = (host: string): Promise<string> =>
  fetch(`http://${host}/`, { headers: { connection: 'close' } }).then(
    (response) => response.text(),
    String,
  )

test('kill -9 at any moment loses no record, stops no traffic and leaves nothing behind', async () => {
  await new Promise<void>((resolve) => site.listen(8080, address, resolve))
  cove = await startCove(home)
  const api = apiOf(cove)
  const { droplet } = await api(droplets.create, { body: { name: 'site', ip_address: address } })
  await api(domains.create, { body: { name: 'crash.example' } })
  const { load_balancer: made } = await api(loadBalancers.create, {
    body: {
      name: 'steady',
      region: 'nyc3',
      droplet_ids: [droplet.id],
      forwarding_rules: [
        { entry_protocol: 'http', entry_port: 80, target_protocol: 'http', target_port: 8080 },
      ],
    },
  })
  const path = { id: made.id }
  let ip = ''
  for (let turn = 0; turn < 100 && ip === ''; turn++) {
    ip = (await api(loadBalancers.get, { path })).load_balancer.ip
    await pause(50)
  }
  expect(await ask(ip)).toBe('still here')

  const confirmed: string[] = []
  for (let round = 0; round < 4; round++) {
    const current = apiOf(cove)
    const dying = cove
    let alive = true
    const writers = [0, 1, 2].map(async (writer) => {
      for (let turn = 0; alive; turn++) {
        const name = `r${round}-${writer}-${turn}`
        const body = { type: 'A', name, data: '192.0.2.1' }
        const done = await current(domainRecords.create, {
          path: { domain: 'crash.example' },
          body,
        }).catch(() => undefined)
        if (done) confirmed.push(name)
      }
    })
    const rules = current(loadBalancers.addRules, {
      path,
      body: {
        forwarding_rules: [
          {
            entry_protocol: 'http',
            entry_port: 9000 + round,
            target_protocol: 'http',
            target_port: 8080,
          },
        ],
      },
    })
    await rules
    await pause(Math.random() * 400)
    await dying.kill()
    alive = false
    await Promise.all(writers)
    expect(await ask(ip)).toBe('still here') // nobody needs us to forward
    cove = await startCove(home)
    const resolver = await dnsOf(cove)
    const missing: string[] = []
    for (const name of confirmed) {
      const found = await resolver.resolve4(`${name}.crash.example`).catch(() => [])
      if (found[0] !== '192.0.2.1') missing.push(name)
    }
    expect(missing).toEqual([])
    expect(await ask(ip)).toBe('still here')
    for (let turn = 0; turn < 100; turn++) {
      if ((await ask(`${ip}:${9000 + round}`)) === 'still here') break
      await pause(50)
    }
    expect(await ask(`${ip}:${9000 + round}`)).toBe('still here')
  }
  expect(confirmed.length).toBeGreaterThan(20)
  // One master and one worker; workers of earlier configurations end with their connections.
  for (let turn = 0; turn < 100 && (await balancing()).length > 2; turn++) await pause(100)
  expect(await balancing()).toHaveLength(2)
  await cove.stop()
  cove = undefined
  expect(await balancing()).toEqual([])
}, 120_000)
