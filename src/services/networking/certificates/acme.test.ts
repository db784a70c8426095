import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCertificate } from '../../../../test/pki.ts'
import { type World, world } from '../../../../test/world.ts'
import { certificates } from './contract.ts'
import { certificateRecords } from './records.ts'

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

const folder = mkdtempSync(join(tmpdir(), 'cove-pebble-'))
const server = makeCertificate({ name: 'localhost', names: ['localhost'] })
let cove: World
let pebble: ChildProcess
let management = 0

const get = (port: number, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ host: 'localhost', port, path, ca: server.cert, agent: false }, (response) => {
      let text = ''
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })

beforeAll(async () => {
  const port = await freePort()
  management = await freePort()
  writeFileSync(join(folder, 'cert.pem'), server.cert)
  writeFileSync(join(folder, 'key.pem'), server.key)
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: join(folder, 'cert.pem'),
      privateKey: join(folder, 'key.pem'),
      httpPort: 5002,
      tlsPort: 5001,
    },
  }
  writeFileSync(join(folder, 'pebble.json'), JSON.stringify(config))
  cove = await world({
    network: {
      dns: { host: '127.0.0.1', port: 0 },
      acme: { directory: `https://localhost:${port}/dir`, trustFile: join(folder, 'cert.pem') },
    },
  })
  const dns = cove.cove.status().dns
  pebble = spawn(
    'pebble',
    ['-config', join(folder, 'pebble.json'), '-dnsserver', `127.0.0.1:${dns?.port}`],
    { env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' }, stdio: 'ignore' },
  )
  for (let turn = 0; turn < 100; turn++) {
    if (await get(port, '/dir').catch(() => '')) return
    await pause(50)
  }
  throw new Error('pebble did not start.')
})
afterAll(async () => {
  pebble.kill()
  await cove.close()
})

test('a name and its wildcard are proven by our DNS and issued by an ACME server', async () => {
  await cove.tool('domain-create', { Name: 'wild.example', IPAddress: '192.0.2.1' })
  const created = await cove.call('acme-certificate-create', {
    Name: 'wild',
    DnsNames: ['wild.example', '*.wild.example'],
  })
  expect(created.content[1]?.text).toContain('issued by the ACME server https://localhost')
  const { id } = (created.structuredContent as { certificate: { id: string } }).certificate
  await cove.settle()
  const { certificate } = await cove.api(certificates.get, { path: { id } })
  expect(certificate).toMatchObject({ state: 'verified', type: 'lets_encrypt' })

  const { chain = '' } = await cove.store.collection(certificateRecords).require(id)
  writeFileSync(join(folder, 'root.pem'), await get(management, '/roots/0'))
  writeFileSync(join(folder, 'chain.pem'), chain)
  const verified = execFileSync('openssl', [
    'verify',
    ...['-verify_hostname', 'any.wild.example'],
    ...['-CAfile', join(folder, 'root.pem'), '-untrusted', join(folder, 'chain.pem')],
    join(folder, 'chain.pem'),
  ])
  expect(String(verified)).toContain('OK')
  expect(chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
})

test('a name that cannot be proven ends in error, with the reason', async () => {
  // Another server is responsible for this part, so our answer is not found.
  await cove.tool('domain-create', { Name: 'lost.example', IPAddress: '192.0.2.1' })
  await cove.tool('domain-record-create', {
    Domain: 'lost.example',
    Type: 'NS',
    Name: '_acme-challenge',
    Data: 'ns.elsewhere.example.',
  })
  const made = await cove.tool('acme-certificate-create', {
    Name: 'lost',
    DnsNames: ['lost.example'],
  })
  const { id } = (made as { certificate: { id: string } }).certificate
  for (let attempt = 0; attempt < 4; attempt++) {
    await cove.settle()
    cove.clock.advance(61_000)
  }
  await cove.settle()
  const result = await cove.call('certificate-get', { ID: id })
  expect(result.structuredContent).toHaveProperty('certificate.state', 'error')
  expect(result.content[1]?.text).toContain('lost.example could not be proven')
})
