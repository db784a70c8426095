import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { droplets } from '#services/compute/droplets/contract.ts'
import { type World, world } from '../../../test/world.ts'

let cove: World
let folder: string
beforeAll(async () => {
  cove = await world()
  folder = mkdtempSync(join(tmpdir(), 'cove-byoip-'))
})
afterAll(async () => {
  await cove.close()
  rmSync(folder, { recursive: true })
})

const newInstance = async (name: string, more: object = {}) => {
  const body = { name, region: 'nyc3', image: 'debian-12-x64', ...more }
  return (await cove.api(droplets.create, { body })).droplet.id
}

const newKey = async (name: string, ...options: string[]) => {
  const file = join(folder, name)
  execFileSync('ssh-keygen', ['-q', '-N', '', '-f', file, ...options])
  await cove.tool('key-create', { Name: name, PublicKey: readFileSync(`${file}.pub`, 'utf8') })
  return file
}

const sign = (key: string, text: string, namespace = 'byoip'): string =>
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-f', key], {
    input: text,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  })

const bring = async (Prefix: string, Signature: string) => {
  const made = await cove.tool('byoip-prefix-create', { Prefix, Signature, Region: 'nyc3' })
  expect(made).toMatchObject({ status: 'in_progress', region: 'nyc3' })
  await cove.settle()
  return String(made.uuid)
}

const stateOf = async (UUID: string) =>
  (await cove.tool('byoip-prefix-get', { UUID })).byoip_prefix as Record<string, unknown>

test('a prefix is active when a key of the account has signed for it, else failed with the reason', async () => {
  const keys = {
    ed: await newKey('ed', '-t', 'ed25519'),
    rsa: await newKey('rsa', '-t', 'rsa', '-b', '2048'),
    ec: await newKey('ec', '-t', 'ecdsa', '-b', '521'),
  }
  const text = (prefix: string) => `I bring ${prefix} to nyc3\n`
  for (const [at, key] of Object.values(keys).entries()) {
    const prefix = `203.0.${at}.0/24`
    const uuid = await bring(prefix, sign(key, text(prefix)))
    expect(await stateOf(uuid)).toMatchObject({ status: 'active', failure_reason: '' })
  }
  const strange = join(folder, 'strange')
  execFileSync('ssh-keygen', ['-q', '-N', '', '-t', 'ed25519', '-f', strange])
  const refused: [string, string][] = [
    ['203.1.0.0/24', 'nonsense'],
    ['203.1.1.0/24', sign(keys.ed, text('203.1.0.0/24'))],
    ['203.1.2.0/24', sign(strange, text('203.1.2.0/24'))],
    ['203.1.3.0/24', sign(keys.ed, text('203.1.3.0/24'), 'file')],
  ]
  const reasons = [
    'not what "ssh-keygen -Y sign" writes',
    'not of this challenge',
    'a key that is not on the account',
    'not for the namespace byoip',
  ]
  for (const [at, [prefix, signature]] of refused.entries()) {
    const state = await stateOf(await bring(prefix, signature))
    expect(state).toMatchObject({ status: 'failed', advertised: false })
    expect(state.failure_reason).toContain(reasons[at])
    expect(JSON.stringify(state.validations)).toContain(`I bring ${prefix} to nyc3`)
  }
})

test('which prefixes can be brought, and what becomes of their addresses', async () => {
  const Signature = sign(join(folder, 'ed'), 'I bring 198.51.100.0/24 to nyc3\n')
  const cases: [string, string][] = [
    ['10.0.0.0/24', 'is part of 10.0.0.0/8'],
    ['203.0.2.0/25', 'between /18 and /24'],
    ['203.0.2.1/24', 'between /18 and /24'],
    ['2001:db8::/32', 'Prefix'],
    ['203.0.0.0/18', 'overlaps with 203.0.0.0/24'],
  ]
  for (const [Prefix, message] of cases) {
    const args = { Prefix, Signature, Region: 'nyc3' }
    expect(await cove.refusal('byoip-prefix-create', args)).toContain(
      message === 'Prefix' ? 'prefix' : message,
    )
  }
  const UUID = await bring('198.51.100.0/24', Signature)
  const shown = await cove.call('byoip-prefix-get', { UUID })
  expect(JSON.stringify(shown)).toContain('announces no prefix to the internet')
  const InstanceID = await newInstance('brought')
  await cove.tool('reserved-ip-assign', { IP: '198.51.100.7', InstanceID, Type: 'ipv4' })
  await cove.settle()
  expect(await cove.tool('byoip-prefix-resources-get', { UUID })).toMatchObject({
    ips: [{ byoip: UUID, resource: `do:droplet:${InstanceID}` }],
    meta: { total: 1 },
  })
  expect(await cove.refusal('byoip-prefix-delete', { UUID })).toContain('1 addresses in use')
  await cove.tool('reserved-ip-release', { IP: '198.51.100.7', Type: 'ipv4' })
  await cove.tool('byoip-prefix-delete', { UUID })
  expect(await cove.refusal('byoip-prefix-get', { UUID })).toContain('was not found')
})

test('an address goes to one instance of its region, one thing at a time, and is told by an action', async () => {
  const [near, other, far] = [
    await newInstance('near'),
    await newInstance('other'),
    await newInstance('far', { region: 'ams3' }),
  ]
  const body = { name: 'elsewhere', region: 'nyc3', ip_address: '192.0.2.9' }
  const elsewhere = (await cove.api(droplets.create, { body })).droplet.id
  const reserve = async () => {
    const made = await cove.tool('reserved-ip-reserve', { Region: 'nyc3', Type: 'ipv4' })
    return (made.reserved_ip as { ip: string }).ip
  }
  const [IP, second] = [await reserve(), await reserve()]
  const Type = 'ipv4'
  const refusal = (InstanceID: number, address = IP) =>
    cove.refusal('reserved-ip-assign', { IP: address, InstanceID, Type })
  expect(await refusal(99_999)).toContain('is no instance of this account')
  expect(await refusal(far)).toContain('is in ams3')
  expect(await refusal(elsewhere)).toContain('is a host elsewhere')
  expect(await cove.refusal('reserved-ip-unassign', { IP, Type })).toContain('is not assigned')
  const { action } = await cove.tool('reserved-ip-assign', { IP, InstanceID: near, Type })
  expect(action).toMatchObject({ status: 'in-progress', type: 'assign_ip' })
  await cove.settle()
  const { id } = action as { id: number }
  expect(await cove.tool('action-get', { ID: id })).toMatchObject({
    action: { status: 'completed', resource_type: 'reserved_ip' },
  })
  expect(await cove.tool('reserved-ip-get', { IP })).toMatchObject({
    reserved_ip: { ip: IP, droplet: { id: near }, locked: false },
  })
  expect(await refusal(near)).toContain('already')
  expect(await refusal(near, second)).toContain(`has the reserved address ${IP} already`)
  await cove.tool('reserved-ip-assign', { IP, InstanceID: other, Type })
  await cove.settle()
  expect(await (await cove.fetch(`/v2/reserved_ips/${IP}/actions`)).json()).toMatchObject({
    actions: [{ type: 'assign_ip' }, { type: 'assign_ip' }],
    meta: { total: 2 },
  })
  await cove.api(droplets.delete, { path: { id: other } })
  expect(await cove.tool('reserved-ip-get', { IP })).toMatchObject({
    reserved_ip: { droplet: null },
  })

  const made = await cove.tool('reserved-ip-reserve', { Region: 'nyc3', Type: 'ipv6' })
  const six = (made.reserved_ipv6 as { ip: string }).ip
  const args = { IP: six, InstanceID: near, Type: 'ipv6' }
  expect(await cove.refusal('reserved-ip-assign', args)).toContain('was made without IPv6')
  const long = six.replace('::', ':0:0:0:')
  expect(await cove.tool('reserved-ip-get', { IP: long })).toMatchObject({
    reserved_ipv6: { ip: six },
  })
})
