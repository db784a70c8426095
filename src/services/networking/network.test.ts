import { afterAll, beforeAll, expect, test } from 'vitest'
import { droplets } from '#services/compute/droplets/contract.ts'
import { type World, world } from '../../../test/world.ts'
import { firewalls } from './firewalls/contract.ts'
import { vpcs } from './vpcs/contract.ts'

/** Rules of the records alone; packets are sent in the tests of the fabric. */
let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(() => cove.close())

interface Vpc {
  id: string
  name: string
  ip_range: string
  default: boolean
}

const newVpc = async (args: Record<string, unknown>) =>
  (await cove.tool('vpc-create', { Region: 'nyc3', ...args })).vpc as Vpc

const newInstance = async (name: string, more: Record<string, unknown> = {}) => {
  const body = { name, region: 'nyc3', image: 'debian-12-x64', ...more }
  return (await cove.api(droplets.create, { body })).droplet
}

const reason = 'Recorded, not enforced: the network fabric is switched off.'

test('VPCs: a default for each region, ranges that do not overlap, members, and refusals', async () => {
  const first = await newVpc({ Name: 'backend', Subnet: '10.10.0.0/20', Description: 'for us' })
  expect(first).toMatchObject({ default: true, ip_range: '10.10.0.0/20' })
  const generated = await newVpc({ Name: 'generated' })
  expect(generated).toMatchObject({ default: false, ip_range: '10.100.0.0/20' })
  expect(await newVpc({ Name: 'elsewhere', Region: 'ams3' })).toMatchObject({ default: true })

  const refused: [Record<string, unknown>, string][] = [
    [{ Name: 'backend' }, 'name backend is taken'],
    [{ Name: 'over', Subnet: '10.10.8.0/24' }, 'overlaps with 10.10.0.0/20 of the VPC backend'],
    [{ Name: 'public', Subnet: '8.8.8.0/24' }, 'private IPv4 network between /16 and /28'],
    [{ Name: 'large', Subnet: '10.0.0.0/8' }, 'private IPv4 network between /16 and /28'],
    [{ Name: 'bad name' }, 'must be letters, digits'],
  ]
  for (const [args, message] of refused) {
    expect(await cove.refusal('vpc-create', { Region: 'nyc3', ...args })).toContain(message)
  }

  const inside = await newInstance('web-1', { vpc_uuid: generated.id })
  expect(inside.networks.v4).toMatchObject([
    { type: 'public' },
    { type: 'private', ip_address: '10.100.0.2', netmask: '255.255.240.0' },
  ])
  expect(await cove.tool('vpc-list-members', { ID: generated.id })).toMatchObject({
    members: [{ name: 'web-1', urn: `do:droplet:${inside.id}` }],
  })
  expect(await cove.refusal('vpc-delete', { ID: generated.id })).toContain('has 1 members')
  expect(await cove.refusal('vpc-delete', { ID: first.id })).toContain(
    'is the default of its region',
  )
  await cove.api(vpcs.patch, { path: { id: generated.id }, body: { default: true } })
  expect((await cove.api(vpcs.get, { path: { id: first.id } })).vpc.default).toBe(false)
  await cove.tool('vpc-delete', { ID: first.id })
  expect(await cove.refusal('vpc-get', { ID: first.id })).toContain('was not found')
  await cove.api(droplets.delete, { path: { id: inside.id } })
})

test('without the right to make networks everything is recorded, and every answer says so', async () => {
  const instance = await newInstance('quiet', { tags: ['quiet'] })
  await cove.settle()
  const shown = await cove.fetch(`/v2/droplets/${instance.id}`)
  expect(decodeURIComponent(shown.headers.get('x-cove-note') ?? '')).toBe(reason)
  expect(await shown.json()).toMatchObject({ droplet: { status: 'new' } })

  const made = await cove.call('firewall-create', {
    Name: 'quiet',
    InboundProtocol: 'tcp',
    InboundPortRange: '80',
    InboundSource: '0.0.0.0/0',
    OutboundProtocol: 'tcp',
    OutboundPortRange: 'all',
    OutboundDestination: '0.0.0.0/0',
    Tags: ['quiet'],
  })
  expect(JSON.stringify(made)).toContain(reason)
  await cove.settle()
  const { firewall } = made.structuredContent as { firewall: { id: string } }
  expect(await cove.tool('firewall-get', { ID: firewall.id })).toMatchObject({
    firewall: {
      status: 'waiting',
      pending_changes: [{ droplet_id: instance.id, removing: false, status: 'waiting' }],
      outbound_rules: [{ ports: '0' }],
    },
  })
  const standings = cove.cove.status().services
  expect(standings).toContainEqual({
    name: 'network fabric',
    state: 'off',
    enforced: false,
    reason: 'the network fabric is switched off',
  })
  await cove.tool('firewall-delete', { ID: firewall.id })
  await cove.api(droplets.delete, { path: { id: instance.id } })
})

test('firewalls: rules come and go, names must exist, and a deleted instance is let go', async () => {
  const instance = await newInstance('guarded', { tags: ['guarded'] })
  const { firewall } = await cove.api(firewalls.create, {
    body: {
      name: 'web',
      droplet_ids: [instance.id],
      inbound_rules: [
        { protocol: 'tcp', ports: '80', sources: { addresses: ['0.0.0.0/0', '::/0'] } },
        { protocol: 'icmp', ports: '8', sources: { tags: ['guarded'] } },
      ],
    },
  })
  const { id } = firewall
  expect(firewall.inbound_rules[1]).toMatchObject({ protocol: 'icmp', ports: '0' })
  const rule = { Protocol: 'tcp', PortRange: '8000-8080', Sources: ['10.0.0.0/8'] }
  await cove.tool('firewall-add-rules', { ID: id, InboundRules: [rule, rule] })
  await cove.tool('firewall-remove-rules', {
    ID: id,
    InboundRules: [{ Protocol: 'tcp', PortRange: '80', Sources: ['::/0'] }],
  })
  expect((await cove.api(firewalls.get, { path: { id } })).firewall.inbound_rules).toEqual([
    { protocol: 'tcp', ports: '80', sources: { addresses: ['0.0.0.0/0'] } },
    { protocol: 'icmp', ports: '0', sources: { tags: ['guarded'] } },
    { protocol: 'tcp', ports: '8000-8080', sources: { addresses: ['10.0.0.0/8'] } },
  ])
  const absent = { Protocol: 'udp', PortRange: '53', Sources: ['10.0.0.0/8'] }
  expect(await cove.refusal('firewall-remove-rules', { ID: id, InboundRules: [absent] })).toContain(
    'has no udp rule for ports 53',
  )
  expect(await cove.refusal('firewall-add-tags', { ID: id, Tags: ['nobody'] })).toContain(
    'tags names nobody, which is no tag',
  )
  expect(await cove.refusal('firewall-add-droplets', { ID: id, InstanceIDs: [999] })).toContain(
    'droplet_ids names 999, which is no instance',
  )
  const path = `/v2/droplets/${instance.id}/firewalls`
  expect(await (await cove.fetch(path)).json()).toMatchObject({ firewalls: [{ id }] })
  await cove.api(droplets.delete, { path: { id: instance.id } })
  expect(await cove.tool('firewall-get', { ID: id })).toMatchObject({
    firewall: { droplet_ids: [], pending_changes: [] },
  })
})

test('peerings join two VPCs once', async () => {
  const [one, other] = [await newVpc({ Name: 'one' }), await newVpc({ Name: 'other' })]
  const args = { Name: 'both', Vpc1: one.id, Vpc2: other.id }
  const made = await cove.tool('vpc-peering-create', args)
  const { id } = made.vpc_peering as { id: string }
  expect(made).toMatchObject({ vpc_peering: { status: 'PROVISIONING' } })
  expect(await cove.refusal('vpc-peering-create', args)).toContain('name both is taken')
  const twin = { Name: 'twin', Vpc1: other.id, Vpc2: one.id }
  expect(await cove.refusal('vpc-peering-create', twin)).toContain('of the peering both already')
  expect(await cove.refusal('vpc-delete', { ID: other.id })).toContain('part of the peering both')
  const self = await cove.fetch('/v2/vpc_peerings', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'self', vpc_ids: [one.id, one.id] }),
  })
  expect(self.status).toBe(422)
  expect(await cove.tool('vpc-peering-delete', { ID: id })).toMatchObject({
    vpc_peering: { status: 'DELETING' },
  })
  await cove.settle()
  expect(await cove.tool('vpc-peering-list')).toMatchObject({ meta: { total: 0 } })
})
