import { createSocket } from 'node:dgram'
import { createServer as createWebServer } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curl, openSite, ownAddress, type Site } from '../../../../test/site.ts'
import { type World, world } from '../../../../test/world.ts'
import { droplets } from '../../compute/droplets/contract.ts'
import { loadBalancers } from './contract.ts'
import { balancerRecords } from './records.ts'

let cove: World
let site: Site
beforeAll(async () => {
  cove = await world()
  site = await openSite({ api: cove.api, name: 'site' })
})
afterAll(async () => {
  await cove.close()
  await site.stop()
})

const http = { entry_protocol: 'http', entry_port: 80, target_protocol: 'http', target_port: 8080 }
const glb_settings = { target_protocol: 'http', target_port: 80 }
const body = { name: 'ok', region: 'nyc3', forwarding_rules: [http] }

const send = async (method: string, path: string, json: object) => {
  const response = await cove.fetch(path, { method, body: JSON.stringify(json) })
  return { status: response.status, json: JSON.parse((await response.text()) || '{}') }
}

test.each<[fields: object, message: string]>([
  [{ region: undefined }, 'region is required for type REGIONAL'],
  [{ region: 'mars1' }, 'region must be a region: nyc1'],
  [{ name: 'a b' }, 'name must be letters, digits, . and -'],
  [{ forwarding_rules: [] }, 'forwarding_rules must have at least 1 item'],
  [{ droplet_ids: [1], tag: 'web' }, 'tag and droplet_ids exclude each other'],
  [{ droplet_ids: [999999] }, 'droplet_ids: there is no instance 999999'],
  [{ size_unit: 101 }, 'size_unit must be at most 100'],
  [{ type: 'LOCAL' }, 'type must be one of REGIONAL, REGIONAL_NETWORK, GLOBAL'],
  [{ type: 'REGIONAL_NETWORK' }, 'forwarding_rules must be tcp or udp for type REGIONAL_NETWORK'],
  [{ type: 'GLOBAL', region: undefined }, 'glb_settings is required for type GLOBAL'],
  [{ type: 'GLOBAL', glb_settings }, 'region must be left out for type GLOBAL'],
  [
    { type: 'GLOBAL', region: undefined, glb_settings, tag: 'web' },
    'droplet_ids and tag must be left out for type GLOBAL',
  ],
  [
    { type: 'GLOBAL', region: undefined, glb_settings, target_load_balancer_ids: ['x'] },
    'target_load_balancer_ids: there is no load balancer x',
  ],
  [
    {
      type: 'GLOBAL',
      region: undefined,
      glb_settings: { ...glb_settings, failover_threshold: 100 },
    },
    'glb_settings.failover_threshold must be at most 99',
  ],
  [{ glb_settings }, 'glb_settings is for type GLOBAL only'],
  [{ http_idle_timeout_seconds: 10 }, 'http_idle_timeout_seconds must be at least 30'],
  [
    { health_check: { check_interval_seconds: 1 } },
    'health_check.check_interval_seconds must be at least 3',
  ],
  [{ health_check: { path: 'x' } }, 'health_check.path must be a path such as /health'],
  [
    { sticky_sessions: { type: 'cookies' } },
    'sticky_sessions.cookie_name is required for type cookies',
  ],
  [
    { sticky_sessions: { type: 'cookies', cookie_name: 'x', cookie_ttl_seconds: 1 } },
    'sticky_sessions.cookie_name must be a cookie name of 2 to 40 characters',
  ],
  [{ firewall: { deny: ['1.2.3.4'] } }, 'firewall.deny[0] must be ip: and an address'],
  [{ redirect_http_to_https: true }, 'redirect_http_to_https needs a forwarding rule'],
  [{ tls_cipher_policy: 'WEAK' }, 'tls_cipher_policy must be one of DEFAULT, STRONG'],
])('%j is refused', async (fields, message) => {
  const { status, json } = await send('POST', '/v2/load_balancers', { ...body, ...fields })
  expect(status).toBe(422)
  expect(json.message).toContain(message)
})

test.each<[rules: object[], message: string]>([
  [[{ ...http, entry_port: 0 }], '[0].entry_port must be at least 1'],
  [[{ ...http, entry_protocol: 'gopher' }], '[0].entry_protocol must be one of http'],
  [
    [{ ...http, entry_protocol: 'udp' }],
    '[0].target_protocol cannot be http for entry_protocol udp',
  ],
  [
    [{ ...http, target_protocol: 'tcp' }],
    '[0].target_protocol cannot be tcp for entry_protocol http',
  ],
  [[{ ...http, entry_protocol: 'https' }], '[0].certificate_id or tls_passthrough is required'],
  [[{ ...http, entry_protocol: 'https', certificate_id: 'x' }], 'there is no certificate x'],
  [[{ ...http, certificate_id: 'x' }], '[0].certificate_id has no use for entry_protocol http'],
  [[{ ...http, tls_passthrough: true }], '[0].tls_passthrough needs entry_protocol https or http2'],
  [
    [{ ...http, entry_protocol: 'https', tls_passthrough: true }],
    '[0].target_protocol must be https or http2 with tls_passthrough',
  ],
  [[http, http], '[1].entry_port repeats tcp port 80 of forwarding_rules[0]'],
])('rules %j are refused', async (forwarding_rules, message) => {
  const { status, json } = await send('POST', '/v2/load_balancers', { ...body, forwarding_rules })
  expect(status).toBe(422)
  expect(json.message).toContain(message)
})

test('an empty body is refused and not fallen over', async () => {
  const { status, json } = await send('POST', '/v2/load_balancers', {})
  expect(status).toBe(422)
  expect(json).toMatchObject({ id: 'unprocessable_entity', request_id: expect.any(String) })
})

test('what cannot be changed is said, and what is left out of a PUT is reset', async () => {
  const made = await send('POST', '/v2/load_balancers', {
    ...body,
    name: 'fixed',
    enable_proxy_protocol: true,
    droplet_ids: [site.id],
  })
  const path = `/v2/load_balancers/${made.json.load_balancer.id}`
  for (const [field, value] of [
    ['region', 'fra1'],
    ['network', 'INTERNAL'],
    ['network_stack', 'DUALSTACK'],
    ['type', 'REGIONAL_NETWORK'],
  ] as const) {
    const tcp = { ...http, entry_protocol: 'tcp', target_protocol: 'tcp' }
    const refused = await send('PUT', path, {
      ...body,
      name: 'fixed',
      forwarding_rules: [tcp],
      [field]: value,
    })
    expect(refused.json.message).toContain(`${field} cannot be changed`)
  }
  const changed = await send('PUT', path, { name: 'fixed', forwarding_rules: [http] })
  expect(changed.status).toBe(200)
  expect(changed.json.load_balancer).toMatchObject({
    enable_proxy_protocol: false,
    droplet_ids: [],
    region: { slug: 'nyc3' },
  })
  const twin = await send('POST', '/v2/load_balancers', { ...body, name: 'fixed' })
  expect(twin.json.message).toContain('name fixed is taken by load balancer')
})

test('a port that is taken makes it errored with the reason, and it recovers', async () => {
  const { json } = await send('POST', '/v2/load_balancers', {
    ...body,
    name: 'late',
    droplet_ids: [site.id],
  })
  const { id } = json.load_balancer
  await cove.settle()
  const { address } = await cove.store.collection(balancerRecords).require(id)
  const squatter = createServer()
  await new Promise<void>((resolve) => squatter.listen(8000, address, resolve))
  const rule = { ...http, entry_port: 8000 }
  await cove.api(loadBalancers.addRules, {
    path: { id },
    body: { forwarding_rules: [rule] as never },
  })
  await cove.settle()
  const result = await cove.call('load-balancer-get', { LoadBalancerID: id })
  expect(result.structuredContent).toHaveProperty('load_balancer.status', 'errored')
  expect(result.content[1]?.text).toContain(`${address}:8000 cannot be listened on`)
  expect(await curl(`http://${address}/`)).toBe('site') // what worked still works
  await new Promise((resolve) => squatter.close(resolve))
  cove.clock.advance(6_000)
  await cove.settle()
  expect(await curl(`http://${address}:8000/`)).toBe('site')
})

test('udp is forwarded to targets whose health check answers', async () => {
  const echo = createSocket('udp4').on('message', (message, sender) =>
    echo.send(`echo ${message}`, sender.port, sender.address),
  )
  await new Promise<void>((resolve) => echo.bind(5353, site.address, resolve))
  const udp = { entry_protocol: 'udp', entry_port: 53, target_protocol: 'udp', target_port: 5353 }
  const { json } = await send('POST', '/v2/load_balancers', {
    name: 'datagrams',
    type: 'REGIONAL_NETWORK',
    region: 'nyc3',
    droplet_ids: [site.id],
    forwarding_rules: [udp],
    health_check: { protocol: 'http', port: 8080 },
  })
  await cove.settle()
  const { load_balancer: made } = await cove.api(loadBalancers.get, {
    path: { id: json.load_balancer.id },
  })
  expect(made.status).toBe('active')
  const client = createSocket('udp4')
  const answer = new Promise((resolve) => client.once('message', (text) => resolve(String(text))))
  client.send('hello', 53, made.ip)
  expect(await Promise.race([answer, pause(3000)])).toBe('echo hello')
  client.close()
  echo.close()
})

test('what is kept and not in force is said', async () => {
  const { json } = await send('POST', '/v2/load_balancers', {
    ...body,
    name: 'wishes',
    network: 'INTERNAL',
    network_stack: 'DUALSTACK',
  })
  const { content } = await cove.call('load-balancer-get', {
    LoadBalancerID: json.load_balancer.id,
  })
  const said = content.map(({ text }) => text).join(' ')
  expect(said).toContain('IPv6 is not served')
  expect(said).toContain('network INTERNAL is kept')
})

test('a request that is being answered outlives its target being taken out', async () => {
  const slow = await openSlowSite()
  const { json } = await send('POST', '/v2/load_balancers', {
    ...body,
    name: 'drain',
    droplet_ids: [slow.id, site.id],
    health_check: { protocol: 'tcp', port: 8080 },
  })
  const { id } = json.load_balancer
  await cove.settle()
  const { address } = await cove.store.collection(balancerRecords).require(id)
  const answers = Array.from({ length: 4 }, () => curl(`http://${address}/`))
  await pause(300)
  await cove.api(loadBalancers.removeDroplets, { path: { id }, body: { droplet_ids: [slow.id] } })
  await cove.settle()
  expect(await curl(`http://${address}/`)).toBe('site')
  expect(await curl(`http://${address}/`)).toBe('site')
  expect([...new Set(await Promise.all(answers))].sort()).toEqual(['site', 'slow'])
  slow.close()
})

/** A server that takes its time. */
const openSlowSite = async () => {
  const address = ownAddress()
  const server = createWebServer(async (_request, response) => {
    await pause(1500)
    response.end('slow')
  })
  await new Promise<void>((resolve) => server.listen(8080, address, resolve))
  const { droplet } = await cove.api(droplets.create, {
    body: { name: 'slow', ip_address: address },
  })
  return { id: droplet.id, close: () => server.close() }
}

test('a global balancer holds up nothing it stands before', async () => {
  const rules = [http, { ...http, entry_port: 81 }]
  const regional = await send('POST', '/v2/load_balancers', {
    ...body,
    name: 'below',
    forwarding_rules: rules,
    droplet_ids: [site.id],
  })
  const { id } = regional.json.load_balancer
  const global = await send('POST', '/v2/load_balancers', {
    name: 'above',
    type: 'GLOBAL',
    glb_settings,
    target_load_balancer_ids: [id],
  })
  const above = global.json.load_balancer.id
  const settle = async () => {
    for (let turn = 0; turn < 4; turn++) {
      await cove.settle()
      cove.clock.advance(6_000)
    }
    await cove.settle()
  }
  await settle()
  const { address } = await cove.store.collection(balancerRecords).require(above)
  expect(await curl(`http://${address}/`)).toBe('site')

  await send('DELETE', `/v2/load_balancers/${id}/forwarding_rules`, { forwarding_rules: [http] })
  await settle()
  const { load_balancer: below } = await cove.api(loadBalancers.get, { path: { id } })
  expect(below.status).toBe('active')
  expect(await curl(`http://${below.ip}:81/`)).toBe('site')
  const { content } = await cove.call('load-balancer-get', { LoadBalancerID: above })
  expect(content[1]?.text).toContain('below has no forwarding rule for port 80')

  await send('POST', `/v2/load_balancers/${id}/forwarding_rules`, { forwarding_rules: [http] })
  await settle()
  expect(await curl(`http://${address}/`)).toBe('site')
  await send('DELETE', `/v2/load_balancers/${id}`, {})
  await settle()
  await expect(curl(`http://${below.ip}:81/`)).rejects.toThrow('Failed to connect')
  expect(await cove.store.collection(balancerRecords).get(id)).toBe(undefined)
})

test('twenty changes under load fail no request', async () => {
  const other = await openSite({ api: cove.api, name: 'other' })
  const { json } = await send('POST', '/v2/load_balancers', {
    ...body,
    name: 'load',
    droplet_ids: [site.id],
  })
  const { id } = json.load_balancer
  await cove.settle()
  const { address } = await cove.store.collection(balancerRecords).require(id)
  const counts = { asked: 0, failed: [] as string[] }
  let done = false
  const traffic = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!done) {
        counts.asked++
        const answer = await fetch(`http://${address}/`).then(
          (response) => response.text(),
          (error) => `${error} ${error.cause}`,
        )
        if (answer !== 'site' && answer !== 'other') counts.failed.push(answer)
      }
    }),
  )
  for (let turn = 0; turn < 10; turn++) {
    // One that the running process takes, and one that needs a reload.
    const droplet_ids = turn % 2 ? [site.id] : [site.id, other.id]
    await send('PUT', `/v2/load_balancers/${id}`, { ...body, name: 'load', droplet_ids })
    await cove.settle()
    const extra = { ...http, entry_port: 9000 + turn }
    await send('POST', `/v2/load_balancers/${id}/forwarding_rules`, { forwarding_rules: [extra] })
    await cove.settle()
  }
  done = true
  await traffic
  expect(counts.failed).toEqual([])
  expect(counts.asked).toBeGreaterThan(100)
  await other.stop()
}, 60_000)
