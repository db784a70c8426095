import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actions } from '#services/account/actions/contract.ts'
import { droplets } from '#services/compute/droplets/contract.ts'
import { tags } from '#services/compute/tags/contract.ts'
import { type Agent, type LabMode, labModes, sendAgent, spawnOf } from '../../../test/fabric/lab.ts'
import { type World, world } from '../../../test/world.ts'
import { firewalls } from './firewalls/contract.ts'

/** Real packets between instances, asked for by the tools, in every mode that this machine has. */
const modes = await labModes()

test.each(modes.impossible)('mode $mode COULD NOT BE TRIED here: $reason', ({ reason }) => {
  expect(reason).not.toBe('')
})

interface Instance {
  id: number
  name: string
  private: string
  public: string
  public6: string
  agent: Agent
}

describe.each(modes.possible)('in mode %s', (mode: LabMode) => {
  let cove: World
  let blue: string
  let green: string
  const all: Instance[] = []
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]

  const newInstance = async (name: string, vpc_uuid: string): Promise<Instance> => {
    const body = { name, region: 'nyc3', image: 'debian-12-x64', vpc_uuid, ipv6: true }
    const { id } = (await cove.api(droplets.create, { body })).droplet
    await cove.settle()
    const { droplet } = await cove.api(droplets.get, { path: { id } })
    expect(droplet.status).toBe('active')
    const { v4, v6 } = droplet.networks
    const at = (type: string) => v4.find((each) => each.type === type)?.ip_address ?? ''
    const { command } = await cove.api(droplets.entry, { path: { id } })
    const made = {
      id,
      name,
      private: at('private'),
      public: at('public'),
      public6: v6[0]?.ip_address ?? '',
      agent: sendAgent(mode, command),
    }
    for (const port of [80, 81]) {
      await made.agent.ask('serve', { port, name })
      await made.agent.ask('serve-udp', { port, name })
    }
    all.push(made)
    return made
  }

  const tcp = (from: Instance, host: string, port = 80) => from.agent.ask('tcp', { host, port })
  const udp = (from: Instance, host: string, port = 80) => from.agent.ask('udp', { host, port })
  const pings = async (from: Instance, host: string, ...options: string[]) => {
    const args = ['ping', '-n', '-c', '1', '-W', '0.4', ...options, host]
    return (await from.agent.ask<{ status: number }>('run', { args })).status === 0
  }
  const asked = async (tool: string, args: Record<string, unknown>) => {
    const result = await cove.tool(tool, args)
    await cove.settle()
    return result
  }
  const newFirewall = async (name: string, rules: object, attached: object) => {
    const body = { name, ...rules, ...attached }
    const { id } = (await cove.api(firewalls.create, { body })).firewall
    await cove.settle()
    return id
  }
  const everyone = { addresses: ['0.0.0.0/0', '::/0'] }
  const out = (['tcp', 'udp', 'icmp'] as const).map((protocol) => ({
    protocol,
    ports: '0',
    destinations: everyone,
  }))
  const into = (ports: string, sources: object = everyone, protocol: 'tcp' | 'udp' = 'tcp') => ({
    protocol,
    ports,
    sources,
  })

  beforeAll(async () => {
    cove = await world({ network: { fabric: { mode, spawn: spawnOf(mode) } } })
    const vpc = async (Name: string, Subnet: string) => {
      const made = await cove.tool('vpc-create', { Name, Region: 'nyc3', Subnet })
      return (made.vpc as { id: string }).id
    }
    ;[blue, green] = [await vpc('blue', '10.1.0.0/20'), await vpc('green', '10.2.0.0/20')]
    a = await newInstance('a', blue)
    b = await newInstance('b', blue)
    c = await newInstance('c', green)
  })
  afterAll(async () => {
    await Promise.all(all.map(({ agent }) => agent.end()))
    await cove.close()
  })

  test('the doctor names the mode', () => {
    const standing = cove.cove.status().services.find(({ name }) => name === 'network fabric')
    expect(standing).toMatchObject({ state: 'running', enforced: true, reason: `mode ${mode}` })
  })

  test('the same VPC is reached, another is not, not even by its address', async () => {
    expect(await tcp(a, b.private)).toBe(`b sees ${a.private}`)
    expect(await udp(a, b.private)).toBe(`b sees ${a.private}`)
    expect(await pings(a, b.private)).toBe(true)
    expect(await tcp(a, c.private)).toBe('silent')
    expect(await udp(a, c.private)).toBe('silent')
    expect(await pings(a, c.private)).toBe(false)
    expect(await pings(a, c.private, '-I', a.public)).toBe(false)
    expect(await tcp(a, c.public)).toBe(`c sees ${a.public}`)
    expect(await tcp(a, c.public6)).toBe(`c sees ${a.public6}`)
    expect(await udp(a, c.public6)).toBe(`c sees ${a.public6}`)
    expect(await pings(a, c.public6)).toBe(true)
  })

  test('a peering opens, and its end also ends what runs', async () => {
    const made = await asked('vpc-peering-create', { Name: 'both', Vpc1: blue, Vpc2: green })
    const { id } = made.vpc_peering as { id: string }
    expect(await cove.tool('vpc-peering-get', { ID: id })).toMatchObject({
      vpc_peering: { status: 'ACTIVE' },
    })
    expect(await tcp(a, c.private)).toBe(`c sees ${a.private}`)
    expect(await tcp(c, b.private)).toBe(`b sees ${c.private}`)
    await a.agent.ask('hold', { socket: 1, host: c.private, port: 80 })
    expect(await a.agent.ask('say', { socket: 1, text: 'still there' })).toBe('still there')
    await asked('vpc-peering-delete', { ID: id })
    expect(await cove.refusal('vpc-peering-get', { ID: id })).toContain('was not found')
    expect(await a.agent.ask('say', { socket: 1, text: 'and now' })).toBe('silent')
    expect(await tcp(a, c.private)).toBe('silent')
  })

  test('80 is let in and 81 is dropped; a rule more, and 81 is let in; established flows survive', async () => {
    const made = await asked('firewall-create', {
      Name: 'web',
      InboundProtocol: 'tcp',
      InboundPortRange: '80',
      InboundSource: '0.0.0.0/0',
      OutboundProtocol: 'tcp',
      OutboundPortRange: 'all',
      OutboundDestination: '0.0.0.0/0',
      InstanceIDs: [b.id],
    })
    const { id } = made.firewall as { id: string }
    expect(made.firewall).toMatchObject({
      status: 'waiting',
      pending_changes: [{ droplet_id: b.id, removing: false, status: 'waiting' }],
    })
    const shown = async () => (await cove.tool('firewall-get', { ID: id })).firewall
    expect(await shown()).toMatchObject({ status: 'succeeded', pending_changes: [] })
    expect(await tcp(a, b.private)).toBe(`b sees ${a.private}`)
    expect(await tcp(a, b.private, 81)).toBe('silent')
    expect(await udp(a, b.private)).toBe('silent')
    expect(await pings(a, b.private)).toBe(false)
    expect(await tcp(c, b.public6)).toBe('silent')

    await a.agent.ask('hold', { socket: 2, host: b.private, port: 80 })
    const more = { Protocol: 'tcp', PortRange: '81', Sources: ['::/0', `${a.private}/32`] }
    await asked('firewall-add-rules', { ID: id, InboundRules: [more] })
    expect(await tcp(a, b.private, 81)).toBe(`b sees ${a.private}`)
    expect(await tcp(c, b.public6, 81)).toBe(`b sees ${c.public6}`)
    expect(await tcp(c, b.public, 81)).toBe('silent')
    const first = { Protocol: 'tcp', PortRange: '80', Sources: ['0.0.0.0/0'] }
    await asked('firewall-remove-rules', { ID: id, InboundRules: [first] })
    expect(await tcp(a, b.private)).toBe('silent')
    expect(await a.agent.ask('say', { socket: 2, text: 'I stay' })).toBe('I stay')

    await asked('firewall-remove-droplets', { ID: id, InstanceIDs: [b.id] })
    expect(await udp(a, b.private)).toBe(`b sees ${a.private}`)
    await asked('firewall-delete', { ID: id })
  })

  test('by tag: whoever gets the tag later is guarded then; a source may be a tag', async () => {
    await cove.api(tags.create, { body: { name: 'db' } })
    await cove.api(tags.create, { body: { name: 'app' } })
    const rules = { inbound_rules: [into('80', { tags: ['app'] })], outbound_rules: out }
    const id = await newFirewall('by-tag', rules, { tags: ['db'] })
    expect(await tcp(a, b.private)).toBe(`b sees ${a.private}`)
    const tag = async (name: string, instance: Instance) => {
      const resources = [{ resource_id: String(instance.id), resource_type: 'droplet' as const }]
      await cove.api(tags.assign, { path: { name }, body: { resources } })
      await cove.settle()
    }
    await tag('db', b)
    expect(await tcp(a, b.private)).toBe('silent')
    await tag('app', a)
    expect(await tcp(a, b.private)).toBe(`b sees ${a.private}`)
    expect(await tcp(a, b.public6)).toBe(`b sees ${a.public6}`)
    expect(await tcp(c, b.public)).toBe('silent')
    await cove.api(tags.delete, { path: { name: 'db' } })
    await cove.settle()
    expect(await tcp(c, b.public)).toBe(`b sees ${c.public}`)
    await asked('firewall-delete', { ID: id })
  })

  test('outbound rules hold back, and several firewalls are a union', async () => {
    const only = { protocol: 'tcp' as const, ports: '80', destinations: { droplet_ids: [b.id] } }
    const [first, second] = [
      await newFirewall('out', { outbound_rules: [only] }, { droplet_ids: [a.id] }),
      await newFirewall(
        'more',
        { inbound_rules: [into('81', everyone, 'udp')] },
        { droplet_ids: [a.id] },
      ),
    ]
    expect(await tcp(a, b.private)).toBe(`b sees ${a.private}`)
    expect(await tcp(a, b.private, 81)).toBe('silent')
    expect(await tcp(a, c.public)).toBe('silent')
    expect(await tcp(b, a.private)).toBe('silent')
    expect(await udp(b, a.private, 81)).toBe(`a sees ${b.private}`)
    for (const ID of [first, second]) await asked('firewall-delete', { ID })
    expect(await tcp(a, b.private, 81)).toBe(`b sees ${a.private}`)
  })

  test('a packet with the address of another is dropped', async () => {
    const foreign = '10.1.0.77'
    await a.agent.ask('run', { args: ['ip', 'address', 'add', `${foreign}/32`, 'dev', 'lo'] })
    await a.agent.ask('run', { args: ['ip', 'address', 'add', `${b.public6}/128`, 'dev', 'lo'] })
    expect(await pings(a, b.private, '-I', foreign)).toBe(false)
    expect(await pings(a, c.public6, '-I', b.public6)).toBe(false)
    expect(await pings(a, c.public6, '-I', a.public6)).toBe(true)
    await a.agent.ask('run', { args: ['ip', 'address', 'del', `${b.public6}/128`, 'dev', 'lo'] })
  })

  test('a reserved IP is translated, and moves under a running download', async () => {
    const reserved = await cove.tool('reserved-ip-reserve', { Region: 'nyc3', Type: 'ipv4' })
    const { ip } = reserved.reserved_ip as { ip: string }
    expect(await tcp(c, ip)).not.toContain('sees')
    const lead = async (InstanceID: number) => {
      const { action } = await asked('reserved-ip-assign', { IP: ip, InstanceID, Type: 'ipv4' })
      const { id } = action as { id: number }
      return (await cove.api(actions.get, { path: { id } })).action
    }
    expect(await lead(a.id)).toMatchObject({ status: 'completed', type: 'assign_ip' })
    expect(await tcp(c, ip)).toBe(`a sees ${c.public}`)
    expect(await tcp(a, c.public)).toBe(`c sees ${ip}`)

    const bytes = 8 * 1024 * 1024
    await a.agent.ask('source', { port: 90, bytes, name: 'a' })
    await b.agent.ask('source', { port: 90, bytes: 1000, name: 'b' })
    const running = c.agent.ask('download', { host: ip, port: 90 })
    await lead(b.id)
    expect(await c.agent.ask('download', { host: ip, port: 90 })).toEqual({ b: 1000 })
    expect(await running).toEqual({ a: bytes })
    expect(await tcp(c, ip)).toBe(`b sees ${c.public}`)
    expect(await tcp(a, c.public)).toBe(`c sees ${a.public}`)

    await asked('reserved-ip-unassign', { IP: ip, Type: 'ipv4' })
    expect(await tcp(c, ip)).not.toContain('sees')
    await asked('reserved-ip-release', { IP: ip, Type: 'ipv4' })
  })

  test('a reserved IPv6 address too', async () => {
    const reserved = await cove.tool('reserved-ip-reserve', { Region: 'nyc3', Type: 'ipv6' })
    const { ip } = reserved.reserved_ipv6 as { ip: string }
    await asked('reserved-ip-assign', { IP: ip, InstanceID: b.id, Type: 'ipv6' })
    expect(await tcp(c, ip)).toBe(`b sees ${c.public6}`)
    expect(await udp(c, ip)).toBe(`b sees ${c.public6}`)
    expect(await tcp(b, c.public6)).toBe(`c sees ${ip}`)
    expect(await cove.refusal('reserved-ip-release', { IP: ip, Type: 'ipv6' })).toContain(
      'unassign it first',
    )
    await asked('reserved-ip-unassign', { IP: ip, Type: 'ipv6' })
    await asked('reserved-ip-release', { IP: ip, Type: 'ipv6' })
  })

  test('a load balancer reaches instances from an address of its own, and firewalls know it', async () => {
    await a.agent.ask('serve-http', { port: 8080, name: 'a' })
    await b.agent.ask('serve-http', { port: 8080, name: 'b' })
    const rule = { EntryProtocol: 'http', TargetProtocol: 'http', TargetPort: 8080 }
    const made = await asked('load-balancer-create', {
      Name: 'front',
      Region: 'nyc3',
      InstanceIDs: [String(a.id), String(b.id)],
      ForwardingRules: [{ ...rule, EntryPort: 8099 }],
    })
    const { id } = made.load_balancer as { id: string }
    const { load_balancer: found } = await cove.tool('load-balancer-get', { LoadBalancerID: id })
    const { ip } = found as { ip: string }
    const answers = async (): Promise<string[]> => {
      const got = new Set<string>()
      for (let n = 0; n < 16; n++) {
        const signal = AbortSignal.timeout(3000)
        const text = await fetch(`http://${ip}:8099/`, {
          signal,
          headers: { connection: 'close' },
        }).then(
          (response) => response.text(),
          () => 'silent',
        )
        got.add(text.split(' ')[0] ?? '')
      }
      return [...got].sort()
    }
    expect(await answers()).toEqual(['a', 'b'])
    const only = { inbound_rules: [into('8080', { load_balancer_uids: [id] })] }
    await asked('load-balancer-remove-droplets', { LoadBalancerID: id, InstanceIDs: [b.id] })
    expect(await answers()).toEqual(['a'])
    await asked('load-balancer-add-droplets', { LoadBalancerID: id, InstanceIDs: [b.id] })
    const firewall = await newFirewall('only-front', only, { droplet_ids: [a.id, b.id] })
    expect(await answers()).toEqual(['a', 'b'])
    expect(await tcp(c, a.public, 8080)).toBe('silent')
    await asked('firewall-delete', { ID: firewall })
    await asked('load-balancer-delete', { LoadBalancerID: id })
  })

  test('a firewall stands before an instance from its first moment, and goes with it', async () => {
    await cove.api(tags.create, { body: { name: 'sealed' } })
    const id = await newFirewall('sealed', { inbound_rules: [into('81')] }, { tags: ['sealed'] })
    const body = { name: 'd', region: 'nyc3', image: 'x', vpc_uuid: blue, tags: ['sealed'] }
    const { droplet } = await cove.api(droplets.create, { body })
    await cove.settle()
    const { command } = await cove.api(droplets.entry, { path: { id: droplet.id } })
    const inside = sendAgent(mode, command)
    await inside.ask('serve', { port: 80, name: 'd' })
    await inside.ask('serve', { port: 81, name: 'd' })
    const address = droplet.networks.v4.find(({ type }) => type === 'private')?.ip_address ?? ''
    expect(await tcp(a, address, 81)).toBe(`d sees ${a.private}`)
    expect(await tcp(a, address, 80)).toBe('silent')
    await cove.api(droplets.delete, { path: { id: droplet.id } })
    await inside.end()
    expect(await tcp(a, address, 81)).not.toContain('sees')
    await asked('firewall-delete', { ID: id })
  })
})
