import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCertificate } from '../../../../test/pki.ts'
import { curl, openSite, ownAddress, type Site } from '../../../../test/site.ts'
import { type World, world } from '../../../../test/world.ts'
import { droplets } from '../../compute/droplets/contract.ts'
import { tags } from '../../compute/tags/contract.ts'
import { certificates } from '../certificates/contract.ts'
import { type LoadBalancer, loadBalancers } from './contract.ts'

let cove: World
let one: Site
let two: Site
beforeAll(async () => {
  cove = await world()
  one = await openSite({ api: cove.api, name: 'one', tags: ['blue'] })
  two = await openSite({ api: cove.api, name: 'two' })
})
afterAll(async () => {
  await cove.close()
  await one.stop()
  await two.stop()
})

const web = { EntryProtocol: 'http', EntryPort: 80, TargetProtocol: 'http', TargetPort: 8080 }

const get = async (id: string): Promise<LoadBalancer> => {
  await cove.settle()
  return (await cove.api(loadBalancers.get, { path: { id } })).load_balancer
}

const create = async (args: Record<string, unknown>): Promise<LoadBalancer> => {
  const made = await cove.tool('load-balancer-create', {
    Region: 'nyc3',
    ForwardingRules: [web],
    ...args,
  })
  const { id, status, ip } = made.load_balancer as LoadBalancer
  expect({ status, ip }).toEqual({ status: 'new', ip: '' })
  const active = await get(id)
  const { content } = await cove.call('load-balancer-get', { LoadBalancerID: id })
  expect(active.status, content[1]?.text).toBe('active')
  return active
}

/** With settings that only the API has. */
const post = async (body: Record<string, unknown>): Promise<LoadBalancer> => {
  const rule = {
    entry_protocol: 'http',
    entry_port: 80,
    target_protocol: 'http',
    target_port: 8080,
  }
  const { load_balancer: made } = await cove.api(loadBalancers.create, {
    body: { region: 'nyc3', forwarding_rules: [rule], ...body } as never,
  })
  return get(made.id)
}

const seen = async (url: string, ...args: string[]): Promise<string[]> => {
  const answers = new Set<string>()
  for (let turn = 0; turn < 8; turn++) answers.add(await curl(url, ...args))
  return [...answers].sort()
}

test('instances given as text share the traffic, come, go, and the balancer goes at last', async () => {
  const { id, ip } = await create({ Name: 'story', InstanceIDs: [String(one.id), two.id] })
  expect(await seen(`http://${ip}/`)).toEqual(['one', 'two'])
  await cove.tool('load-balancer-remove-droplets', { LoadBalancerID: id, InstanceIDs: [one.id] })
  await cove.settle()
  expect(await seen(`http://${ip}/`)).toEqual(['two'])
  await cove.tool('load-balancer-add-droplets', { LoadBalancerID: id, InstanceIDs: [one.id] })
  await cove.settle()
  expect(await seen(`http://${ip}/`)).toEqual(['one', 'two'])

  const second = { ...web, EntryPort: 8000 }
  await cove.tool('load-balancer-add-forwarding-rules', {
    LoadBalancerID: id,
    ForwardingRules: [second],
  })
  await cove.settle()
  expect(await seen(`http://${ip}:8000/`)).toEqual(['one', 'two'])
  await cove.tool('load-balancer-remove-forwarding-rules', {
    LoadBalancerID: id,
    ForwardingRules: [second],
  })
  await cove.settle()
  await expect(curl(`http://${ip}:8000/`)).rejects.toThrow('Failed to connect')
  const last = await cove.refusal('load-balancer-remove-forwarding-rules', {
    LoadBalancerID: id,
    ForwardingRules: [web],
  })
  expect(last).toContain('the last cannot go')

  await cove.tool('load-balancer-update', {
    LoadBalancerID: id,
    Name: 'renamed',
    InstanceIDs: [one.id],
  })
  expect(await get(id)).toMatchObject({ name: 'renamed', droplet_ids: [one.id], ip })
  expect(await seen(`http://${ip}/`)).toEqual(['one'])
  await cove.tool('load-balancer-delete', { LoadBalancerID: id })
  expect(await cove.refusal('load-balancer-get', { LoadBalancerID: id })).toContain('was not found')
  await cove.settle()
  await expect(curl(`http://${ip}/`)).rejects.toThrow('Failed to connect')
})

test('instances follow their tag', async () => {
  const { id, ip } = await create({ Name: 'tagged', Tag: 'blue' })
  expect(await seen(`http://${ip}/`)).toEqual(['one'])
  const blue = { path: { name: 'blue' } }
  const tagged = { resources: [{ resource_id: String(two.id), resource_type: 'droplet' as const }] }
  await cove.api(tags.assign, { ...blue, body: tagged })
  expect((await get(id)).droplet_ids).toEqual([one.id, two.id])
  expect(await seen(`http://${ip}/`)).toEqual(['one', 'two'])
  await cove.api(tags.unassign, { ...blue, body: tagged })
  await cove.settle()
  expect(await seen(`http://${ip}/`)).toEqual(['one'])
  expect(
    await cove.refusal('load-balancer-add-droplets', { LoadBalancerID: id, InstanceIDs: [two.id] }),
  ).toContain('those tagged blue')

  const short = await openSite({ api: cove.api, name: 'short', tags: ['blue'] })
  await cove.settle()
  expect(await seen(`http://${ip}/`)).toEqual(['one', 'short'])
  await cove.api(droplets.delete, { path: { id: short.id } })
  await cove.settle()
  await short.stop()
  expect(await seen(`http://${ip}/`)).toEqual(['one'])
})

test('https and http2 end at the balancer, and a renewed certificate cuts nobody off', async () => {
  await cove.tool('domain-create', { Name: 'tls.example', IPAddress: '192.0.2.1' })
  const made = await cove.tool('acme-certificate-create', {
    Name: 'tls',
    DnsNames: ['tls.example'],
  })
  const { id: certificate_id } = (made as { certificate: { id: string } }).certificate
  const rule = { target_protocol: 'http', target_port: 8080 }
  // The certificate may still be on its way when the balancer is made.
  const { id, ip, status } = await post({
    name: 'tls',
    droplet_ids: [one.id],
    redirect_http_to_https: true,
    tls_cipher_policy: 'STRONG',
    forwarding_rules: [
      { entry_protocol: 'http', entry_port: 80, ...rule },
      { entry_protocol: 'https', entry_port: 443, certificate_id, ...rule },
      { entry_protocol: 'http2', entry_port: 8443, certificate_id, ...rule },
      { entry_protocol: 'http3', entry_port: 8443, certificate_id, ...rule },
    ],
  })
  expect(status).toBe('active')
  const ca = join(cove.home, 'certificates', 'ca.pem')
  const to = (port: number) => ['--cacert', ca, '--resolve', `tls.example:${port}:${ip}`]
  const version = ['-o', '/dev/null', '-w', '%{http_version} %{http_code}']
  expect(await curl('https://tls.example/', ...to(443))).toBe('one')
  expect(await curl('--http2', 'https://tls.example/', ...version, ...to(443))).toBe('1.1 200')
  expect(await curl('--http2', 'https://tls.example:8443/', ...version, ...to(8443))).toBe('2 200')
  expect(await curl('-i', `http://${ip}/x`)).toMatch(
    /^HTTP\/1.1 307[\s\S]*location: https:\/\/.*\/x/,
  )
  const { content } = await cove.call('load-balancer-get', { LoadBalancerID: id })
  expect(content[1]?.text).toContain('http3 on port 8443 is not served')
  expect(await cove.refusal('certificate-delete', { ID: certificate_id })).toContain(
    `in use by load balancer tls (${id})`,
  )

  const before = await cove.api(certificates.get, { path: { id: certificate_id } })
  const old = connectTls({
    host: ip,
    port: 443,
    servername: 'tls.example',
    rejectUnauthorized: false,
  })
  const answers: string[] = []
  old.on('data', (chunk) => answers.push(String(chunk)))
  const ask = async () => {
    old.write('GET / HTTP/1.1\r\nhost: tls.example\r\n\r\n')
    const count = answers.length
    while (answers.length === count) await pause(10)
  }
  await ask()
  const left = Date.parse(before.certificate.not_after ?? '') - cove.clock.now()
  cove.clock.advance(left - 86_400_000)
  await cove.settle()
  await ask()
  old.destroy()
  expect(answers.every((answer) => answer.startsWith('HTTP/1.1 200'))).toBe(true)
  const after = await cove.api(certificates.get, { path: { id: certificate_id } })
  const shown = await new Promise<string>((resolve) => {
    const socket = connectTls({ host: ip, port: 443, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint.replaceAll(':', '').toLowerCase())
      socket.destroy()
    })
  })
  expect(shown).toBe(after.certificate.sha1_fingerprint)
  expect(shown).not.toBe(before.certificate.sha1_fingerprint)
})

test('encrypted targets, passthrough, plain TCP, PROXY protocol and cookies', async () => {
  const tls = makeCertificate({ name: 'target', names: ['target.example'] })
  const secure = await openSite({ api: cove.api, name: 'secure', port: 8443, tls })
  const { ip } = await post({
    name: 'mixed',
    droplet_ids: [secure.id],
    health_check: { protocol: 'tcp', port: 8443 },
    forwarding_rules: [
      { entry_protocol: 'http', entry_port: 80, target_protocol: 'https', target_port: 8443 },
      {
        entry_protocol: 'https',
        entry_port: 443,
        target_protocol: 'https',
        target_port: 8443,
        tls_passthrough: true,
      },
    ],
  })
  expect(await curl(`http://${ip}/`)).toBe('secure')
  const shown = await curl('-kv', `https://${ip}/`, '--stderr', '-')
  expect(shown).toContain('CN=target')
  await secure.stop()

  const sticky = await post({
    name: 'sticky',
    droplet_ids: [one.id, two.id],
    sticky_sessions: { type: 'cookies', cookie_name: 'lb-at', cookie_ttl_seconds: 300 },
  })
  const [, cookie = ''] =
    /set-cookie: (lb-at=[^;]+; .*)/i.exec(await curl('-i', `http://${sticky.ip}/`)) ?? []
  expect(cookie).toContain('Max-Age=300')
  const jar = ['-b', cookie.split(';')[0] ?? '']
  expect(await seen(`http://${sticky.ip}/`, ...jar)).toHaveLength(1)

  const raw = await openTcp()
  const proxied = await post({
    name: 'proxied',
    droplet_ids: [raw.id],
    enable_proxy_protocol: true,
    health_check: { protocol: 'tcp', port: 9000 },
    forwarding_rules: [
      { entry_protocol: 'tcp', entry_port: 7000, target_protocol: 'tcp', target_port: 9000 },
    ],
  })
  const echoed = await new Promise<string>((resolve) => {
    let text = ''
    const socket = connect(7000, proxied.ip, () => socket.write('hello'))
    socket.on('data', (chunk) => {
      text += chunk
      if (!text.endsWith('hello')) return
      socket.destroy()
      resolve(text)
    })
  })
  expect(echoed).toMatch(/^PROXY TCP4 127\.0\.0\.1 [\d.]+ \d+ 7000\r\nhello$/)
  raw.close()
})

const openTcp = async () => {
  const address = ownAddress()
  const { createServer } = await import('node:net')
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(9000, address, resolve))
  const { droplet } = await cove.api(droplets.create, {
    body: { name: 'raw', ip_address: address },
  })
  return { id: droplet.id, address, close: () => server.close() }
}

test('who is denied, or not allowed, does not get in', async () => {
  const denied = await post({
    name: 'denied',
    droplet_ids: [one.id],
    firewall: { deny: ['ip:127.0.0.1'] },
  })
  await expect(curl(`http://${denied.ip}/`)).rejects.toThrow(/reset|Empty reply|Failed to connect/)
  expect(await curl('--interface', '127.0.0.9', `http://${denied.ip}/`)).toBe('one')
  const allowed = await post({
    name: 'allowed',
    droplet_ids: [one.id],
    firewall: { allow: ['cidr:127.0.9.0/24'] },
  })
  await expect(curl(`http://${allowed.ip}/`)).rejects.toThrow(/reset|Empty reply|Failed to connect/)
  expect(await curl('--interface', '127.0.9.1', `http://${allowed.ip}/`)).toBe('one')
})

test('a target that dies costs no request, is told of, and comes back', async () => {
  const shaky = await openSite({ api: cove.api, name: 'shaky' })
  const { id, ip } = await post({
    name: 'shaky',
    droplet_ids: [one.id, shaky.id],
    health_check: {
      protocol: 'http',
      port: 8080,
      check_interval_seconds: 3,
      unhealthy_threshold: 2,
      healthy_threshold: 2,
    },
  })
  // A client that never finishes its request, and one that asks a byte at a time.
  const slow = connect(80, ip)
  slow.on('error', () => undefined)
  const cut = new Promise((resolve) => slow.once('close', () => resolve('closed')))
  const drip = setInterval(() => slow.writable && slow.write('x'), 500)
  expect(await seen(`http://${ip}/`)).toEqual(['one', 'shaky'])
  await shaky.stop()
  expect(await seen(`http://${ip}/`)).toEqual(['one'])
  const told = async (text: string | undefined) => {
    for (let turn = 0; turn < 60; turn++) {
      const { content } = await cove.call('load-balancer-get', { LoadBalancerID: id })
      if (content[1]?.text === text) return true
      await pause(250)
    }
    return false
  }
  expect(await told(`Note: Instance ${shaky.id} fails its health check for port 80.`)).toBe(true)
  await shaky.start()
  expect(await told(undefined)).toBe(true)
  expect(await seen(`http://${ip}/`)).toEqual(['one', 'shaky'])
  expect(await Promise.race([cut, pause(15_000)])).toBe('closed')
  clearInterval(drip)
  await shaky.stop()
}, 60_000)

test('a global balancer prefers, fails over and caches', async () => {
  let served = 0
  const answer = (name: string) => () => `${name} ${++served}`
  const near = await openSite({ api: cove.api, name: 'near', answer: answer('near') })
  const far = await openSite({ api: cove.api, name: 'far', answer: answer('far') })
  const health_check = {
    protocol: 'http',
    port: 8080,
    check_interval_seconds: 3,
    unhealthy_threshold: 2,
  }
  const first = await post({ name: 'near', region: 'nyc3', droplet_ids: [near.id], health_check })
  const second = await post({ name: 'far', region: 'fra1', droplet_ids: [far.id], health_check })
  const glb = {
    target_protocol: 'http',
    target_port: 80,
    region_priorities: { nyc3: 1, fra1: 2 },
    failover_threshold: 50,
  }
  const args = { Type: 'GLOBAL', Region: undefined, ForwardingRules: undefined }
  const { ip } = await create({
    ...args,
    Name: 'global',
    TargetLoadBalancerIDs: [first.id, second.id],
    GLBSettings: glb,
  })
  expect(await curl(`http://${ip}/`)).toMatch(/^near/)
  const cached = await create({
    ...args,
    Name: 'cached',
    TargetLoadBalancerIDs: [first.id],
    GLBSettings: { ...glb, cdn: { is_enabled: true } },
  })
  const page = await curl(`http://${cached.ip}/page`)
  expect(await curl('-i', `http://${cached.ip}/page`)).toMatch(
    new RegExp(`x-cache: HIT[\\s\\S]*${page}$`),
  )
  expect(await curl(`http://${cached.ip}/page`)).toBe(page)
  await cove.tool('load-balancer-delete-cache', { LoadBalancerID: cached.id })
  expect(await curl('-i', `http://${cached.ip}/page`)).toMatch(/x-cache: MISS/)
  const fresh = await curl(`http://${cached.ip}/page`)
  expect(fresh).not.toBe(page)
  await cove.tool('load-balancer-delete-cache', { LoadBalancerID: cached.id })
  expect(await curl(`http://${cached.ip}/page`)).not.toBe(fresh)
  expect(await cove.refusal('load-balancer-delete-cache', { LoadBalancerID: first.id })).toContain(
    'Only load balancers of type GLOBAL have a cache',
  )

  await near.stop()
  for (let turn = 0; turn < 60; turn++) {
    if ((await curl(`http://${ip}/`)).startsWith('far')) break
    await pause(250)
  }
  expect(await curl(`http://${ip}/`)).toMatch(/^far/)
  await near.start()
  for (let turn = 0; turn < 80; turn++) {
    if ((await curl(`http://${ip}/`)).startsWith('near')) break
    await pause(250)
  }
  expect(await curl(`http://${ip}/`)).toMatch(/^near/)
  await near.stop()
  await far.stop()
}, 60_000)
