import { expect, test } from 'vitest'
import { createCalls } from '#mcp/calls.ts'
import { allTools, catalogue } from '../catalogue.ts'

interface Sent {
  sent: string
  body?: unknown
}

/** The cloud as a list of what it was asked; it answers with `answers` by method and path. */
const cloud = (answers: Record<string, unknown> = {}) => {
  const asked: Sent[] = []
  const calls = createCalls((name) => allTools[name], {
    baseUrl: 'https://api.example',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const text = await request.text()
      asked.push({
        sent: `${request.method} ${pathname}${search}`,
        ...(text && { body: JSON.parse(text) }),
      })
      const answer = answers[`${request.method} ${pathname}`]
      return answer ? Response.json(answer) : new Response(null, { status: 204 })
    },
    audit: { write: () => {} },
    confirm: 'never',
    answerLimit: 100_000,
    now: Date.now,
  })
  const call = (name: string, args: Record<string, unknown>) =>
    calls(name, args, {
      token: 't',
      who: 'test',
      signal: new AbortController().signal,
      progress: () => {},
    })
  return { asked, call }
}

const page = { Page: 2, PerPage: '50' }
const rule = { Protocol: 'tcp', PortRange: '80' }
const forward = { EntryProtocol: 'http', EntryPort: '80', TargetProtocol: 'http', TargetPort: 8080 }
const forwarded = {
  entry_protocol: 'http',
  entry_port: 80,
  target_protocol: 'http',
  target_port: 8080,
}
const glb = { target_protocol: 'http', target_port: 80, cdn: { is_enabled: true } }
const one = { UUID: 'u' }
const record = { Domain: 'example.com', Type: 'A', Name: 'www', Data: '192.0.2.1' }
const wired = { type: 'A', name: 'www', data: '192.0.2.1' }

const requests: [tool: string, args: Record<string, unknown>, sent: string, body?: unknown][] = [
  [
    'domain-create',
    { Name: 'example.com', IPAddress: '192.0.2.1' },
    'POST /v2/domains',
    { name: 'example.com', ip_address: '192.0.2.1' },
  ],
  ['domain-delete', { Name: 'example.com' }, 'DELETE /v2/domains/example.com'],
  ['domain-get', { Name: 'example.com' }, 'GET /v2/domains/example.com'],
  ['domain-list', page, 'GET /v2/domains?page=2&per_page=50'],
  ['domain-record-create', record, 'POST /v2/domains/example.com/records', wired],
  [
    'domain-record-create',
    { ...record, Type: 'MX', Data: '10 mail.example.com' },
    'POST /v2/domains/example.com/records',
    { type: 'MX', name: 'www', data: 'mail.example.com', priority: 10 },
  ],
  [
    'domain-record-create',
    { ...record, Type: 'SRV', Data: '1 2 5060 sip.example.com' },
    'POST /v2/domains/example.com/records',
    { type: 'SRV', name: 'www', data: 'sip.example.com', priority: 1, weight: 2, port: 5060 },
  ],
  [
    'domain-record-create',
    { ...record, Type: 'CAA', Data: '0 issue "ca.example"' },
    'POST /v2/domains/example.com/records',
    { type: 'CAA', name: 'www', data: 'ca.example', flags: 0, tag: 'issue' },
  ],
  [
    'domain-record-delete',
    { Domain: 'example.com', RecordID: '7' },
    'DELETE /v2/domains/example.com/records/7',
  ],
  [
    'domain-record-edit',
    { ...record, RecordID: 7 },
    'PUT /v2/domains/example.com/records/7',
    wired,
  ],
  [
    'domain-record-get',
    { Domain: 'example.com', RecordID: 7 },
    'GET /v2/domains/example.com/records/7',
  ],
  [
    'domain-record-list',
    { Domain: 'example.com' },
    'GET /v2/domains/example.com/records?page=1&per_page=20',
  ],
  [
    'custom-certificate-create',
    { Name: 'c', PrivateKey: 'k', LeafCertificate: 'l', CertificateChain: 'i' },
    'POST /v2/certificates',
    {
      name: 'c',
      type: 'custom',
      private_key: 'k',
      leaf_certificate: 'l',
      certificate_chain: 'i',
    },
  ],
  [
    'acme-certificate-create',
    { Name: 'c', DnsNames: '["example.com","*.example.com"]' },
    'POST /v2/certificates',
    { name: 'c', type: 'lets_encrypt', dns_names: ['example.com', '*.example.com'] },
  ],
  ['certificate-delete', { ID: 'c' }, 'DELETE /v2/certificates/c'],
  ['certificate-get', { ID: 'c' }, 'GET /v2/certificates/c'],
  ['certificate-list', {}, 'GET /v2/certificates?page=1&per_page=20'],
  [
    'firewall-create',
    {
      Name: 'f',
      InboundProtocol: 'tcp',
      InboundPortRange: '80',
      InboundSource: '0.0.0.0/0',
      OutboundProtocol: 'udp',
      OutboundPortRange: '53',
      OutboundDestination: '192.0.2.53',
      InstanceIDs: ['1', 2],
      Tags: ['web'],
    },
    'POST /v2/firewalls',
    {
      name: 'f',
      inbound_rules: [{ protocol: 'tcp', ports: '80', sources: { addresses: ['0.0.0.0/0'] } }],
      outbound_rules: [
        { protocol: 'udp', ports: '53', destinations: { addresses: ['192.0.2.53'] } },
      ],
      droplet_ids: [1, 2],
      tags: ['web'],
    },
  ],
  ['firewall-delete', { ID: 'f' }, 'DELETE /v2/firewalls/f'],
  ['firewall-get', { ID: 'f' }, 'GET /v2/firewalls/f'],
  ['firewall-list', page, 'GET /v2/firewalls?page=2&per_page=50'],
  ['firewall-add-tags', { ID: 'f', Tags: ['a'] }, 'POST /v2/firewalls/f/tags', { tags: ['a'] }],
  [
    'firewall-remove-tags',
    { ID: 'f', Tags: ['a'] },
    'DELETE /v2/firewalls/f/tags',
    { tags: ['a'] },
  ],
  [
    'firewall-add-droplets',
    { ID: 'f', InstanceIDs: [1] },
    'POST /v2/firewalls/f/droplets',
    { droplet_ids: [1] },
  ],
  [
    'firewall-remove-droplets',
    { ID: 'f', InstanceIDs: [1] },
    'DELETE /v2/firewalls/f/droplets',
    { droplet_ids: [1] },
  ],
  [
    'firewall-add-rules',
    { ID: 'f', InboundRules: [{ ...rule, Sources: ['10.0.0.0/8'] }] },
    'POST /v2/firewalls/f/rules',
    { inbound_rules: [{ protocol: 'tcp', ports: '80', sources: { addresses: ['10.0.0.0/8'] } }] },
  ],
  [
    'firewall-remove-rules',
    { ID: 'f', OutboundRules: [{ ...rule, Destinations: ['10.0.0.0/8'] }] },
    'DELETE /v2/firewalls/f/rules',
    {
      outbound_rules: [
        { protocol: 'tcp', ports: '80', destinations: { addresses: ['10.0.0.0/8'] } },
      ],
    },
  ],
  [
    'load-balancer-create',
    { Name: 'l', Region: 'nyc3', ForwardingRules: [forward], InstanceIDs: ['1', 2], SizeUnit: '2' },
    'POST /v2/load_balancers',
    {
      name: 'l',
      region: 'nyc3',
      forwarding_rules: [forwarded],
      droplet_ids: [1, 2],
      size_unit: 2,
      type: 'REGIONAL',
      network: 'EXTERNAL',
    },
  ],
  [
    'load-balancer-create',
    { Name: 'g', Type: 'GLOBAL', GLBSettings: glb, TargetLoadBalancerIDs: ['a'] },
    'POST /v2/load_balancers',
    {
      name: 'g',
      type: 'GLOBAL',
      network: 'EXTERNAL',
      glb_settings: glb,
      target_load_balancer_ids: ['a'],
    },
  ],
  ['load-balancer-delete', { LoadBalancerID: 'l' }, 'DELETE /v2/load_balancers/l'],
  ['load-balancer-delete-cache', { LoadBalancerID: 'l' }, 'DELETE /v2/load_balancers/l/cache'],
  ['load-balancer-get', { LoadBalancerID: 'l' }, 'GET /v2/load_balancers/l'],
  ['load-balancer-list', {}, 'GET /v2/load_balancers?page=1&per_page=20'],
  [
    'load-balancer-add-droplets',
    { LoadBalancerID: 'l', InstanceIDs: [1] },
    'POST /v2/load_balancers/l/droplets',
    { droplet_ids: [1] },
  ],
  [
    'load-balancer-remove-droplets',
    { LoadBalancerID: 'l', InstanceIDs: [1] },
    'DELETE /v2/load_balancers/l/droplets',
    { droplet_ids: [1] },
  ],
  [
    'load-balancer-add-forwarding-rules',
    { LoadBalancerID: 'l', ForwardingRules: [{ ...forward, TlsPassthrough: 'true' }] },
    'POST /v2/load_balancers/l/forwarding_rules',
    { forwarding_rules: [{ ...forwarded, tls_passthrough: true }] },
  ],
  [
    'load-balancer-remove-forwarding-rules',
    { LoadBalancerID: 'l', ForwardingRules: [forward] },
    'DELETE /v2/load_balancers/l/forwarding_rules',
    { forwarding_rules: [forwarded] },
  ],
  [
    'reserved-ip-reserve',
    { Region: 'nyc3', Type: 'ipv4' },
    'POST /v2/reserved_ips',
    { region: 'nyc3' },
  ],
  [
    'reserved-ip-reserve',
    { Region: 'nyc3', Type: 'ipv6' },
    'POST /v2/reserved_ipv6',
    { region_slug: 'nyc3' },
  ],
  ['reserved-ip-release', { IP: '192.0.2.1', Type: 'ipv4' }, 'DELETE /v2/reserved_ips/192.0.2.1'],
  [
    'reserved-ip-release',
    { IP: '2001:db8::1', Type: 'ipv6' },
    'DELETE /v2/reserved_ipv6/2001:db8::1',
  ],
  [
    'reserved-ip-assign',
    { IP: '192.0.2.1', InstanceID: 7, Type: 'ipv4' },
    'POST /v2/reserved_ips/192.0.2.1/actions',
    { type: 'assign', droplet_id: 7 },
  ],
  [
    'reserved-ip-unassign',
    { IP: '2001:db8::1', Type: 'ipv6' },
    'POST /v2/reserved_ipv6/2001:db8::1/actions',
    { type: 'unassign' },
  ],
  ['reserved-ip-list', { Type: 'ipv6' }, 'GET /v2/reserved_ipv6?page=1&per_page=20'],
  ['reserved-ip-get', { IP: '192.0.2.1' }, 'GET /v2/reserved_ips/192.0.2.1'],
  [
    'vpc-peering-create',
    { Name: 'p', Vpc1: 'a', Vpc2: 'b' },
    'POST /v2/vpc_peerings',
    { name: 'p', vpc_ids: ['a', 'b'] },
  ],
  ['vpc-peering-delete', { ID: 'p' }, 'DELETE /v2/vpc_peerings/p'],
  ['vpc-peering-get', { ID: 'p' }, 'GET /v2/vpc_peerings/p'],
  ['vpc-peering-list', {}, 'GET /v2/vpc_peerings?page=1&per_page=20'],
  [
    'byoip-prefix-create',
    { Prefix: '203.0.113.0/24', Signature: 's', Region: 'nyc3' },
    'POST /v2/byoip_prefixes',
    { prefix: '203.0.113.0/24', signature: 's', region: 'nyc3' },
  ],
  ['byoip-prefix-delete', one, 'DELETE /v2/byoip_prefixes/u'],
  ['byoip-prefix-get', one, 'GET /v2/byoip_prefixes/u'],
  ['byoip-prefix-list', page, 'GET /v2/byoip_prefixes?page=2&per_page=50'],
  [
    'byoip-prefix-resources-get',
    { ...one, ...page },
    'GET /v2/byoip_prefixes/u/ips?page=2&per_page=50',
  ],
  [
    'vpc-create',
    { Name: 'v', Region: 'nyc3', Subnet: '10.0.0.0/20', Description: 'd' },
    'POST /v2/vpcs',
    { name: 'v', region: 'nyc3', ip_range: '10.0.0.0/20', description: 'd' },
  ],
  ['vpc-delete', { ID: 'v' }, 'DELETE /v2/vpcs/v'],
  ['vpc-get', { ID: 'v' }, 'GET /v2/vpcs/v'],
  ['vpc-list', {}, 'GET /v2/vpcs?page=1&per_page=20'],
]

test.each(requests)('%s asks for what it says: %j → %s', async (tool, args, sent, body) => {
  const { asked, call } = cloud()
  const result = await call(tool, args)
  expect(result.isError, result.content[0]?.text).toBeFalsy()
  expect(asked).toEqual([{ sent, ...(body !== undefined && { body }) }])
})

test('the members of a VPC come from all pages', async () => {
  const member = { name: 'a', urn: 'do:droplet:1', created_at: '2026-01-02T03:04:05Z' }
  const answer = { members: [member], meta: { total: 2 }, links: { pages: { next: 'x' } } }
  const { asked, call } = cloud({ 'GET /v2/vpcs/v/members': answer })
  const { structuredContent } = await call('vpc-list-members', { ID: 'v' })
  expect(structuredContent).toEqual({ members: [member, member], meta: { total: 2 }, links: {} })
  expect(asked.map(({ sent }) => sent)).toEqual([
    'GET /v2/vpcs/v/members?page=1&per_page=200',
    'GET /v2/vpcs/v/members?page=2&per_page=200',
  ])
})

test('every networking tool is tried', () => {
  const others = ['load-balancer-update', 'vpc-list-members']
  const tried = new Set([...requests.map(([tool]) => tool), ...others])
  expect(Object.keys(catalogue.networking ?? {}).sort()).toEqual([...tried].sort())
  expect(tried.size).toBe(54)
})

test('rules between arguments are told before anything is sent', async () => {
  const cases: [string, Record<string, unknown>, string][] = [
    [
      'load-balancer-create',
      { Name: 'l', ForwardingRules: [forward] },
      'Region is required for Type REGIONAL.',
    ],
    [
      'load-balancer-create',
      { Name: 'l', Region: 'nyc3' },
      'ForwardingRules is required for Type REGIONAL.',
    ],
    [
      'load-balancer-create',
      { Name: 'l', Type: 'GLOBAL' },
      'GLBSettings is required for Type GLOBAL.',
    ],
    [
      'load-balancer-create',
      { Name: 'l', Type: 'GLOBAL', GLBSettings: glb, Region: 'nyc3' },
      'Region must be left out for Type GLOBAL.',
    ],
    [
      'load-balancer-create',
      { Name: 'l', Region: 'nyc3', ForwardingRules: [forward], InstanceIDs: [1], Tag: 'web' },
      'InstanceIDs and Tag exclude each other',
    ],
    [
      'load-balancer-create',
      { Name: 'l', Region: 'nyc3', ForwardingRules: [forward], InstanceIDs: ['web-1'] },
      'must be the number of an instance',
    ],
    ['firewall-add-rules', { ID: 'f' }, 'At least one of InboundRules and OutboundRules'],
    ['firewall-remove-rules', { ID: 'f', InboundRules: [] }, 'At least one of InboundRules'],
    [
      'reserved-ip-release',
      { IP: '192.0.2.1', Type: 'ipv6' },
      'IP 192.0.2.1 is not an ipv6 address',
    ],
    [
      'vpc-peering-create',
      { Name: 'p', Vpc1: 'a', Vpc2: 'a' },
      'Vpc1 and Vpc2 must be two different',
    ],
    ['domain-record-create', { ...record, Type: 'SRV' }, '10 5 5060 sip.example.com'],
    ['domain-record-create', { ...record, Type: 'CAA' }, '0 issue "letsencrypt.org"'],
    ['domain-record-create', { ...record, Type: 'PTR' }, 'Type must be one of A, AAAA'],
  ]
  for (const [tool, args, message] of cases) {
    const { asked, call } = cloud()
    const result = await call(tool, args)
    expect(result.isError, tool).toBe(true)
    expect(result.content[0]?.text).toContain(message)
    expect(asked).toEqual([])
  }
})

const present = {
  id: 'l',
  ip: '192.0.2.1',
  ipv6: '',
  status: 'active',
  created_at: '2026-01-01T00:00:00Z',
  name: 'old',
  size: 'lb-small',
  size_unit: 3,
  region: { slug: 'nyc3', name: 'New York 3' },
  forwarding_rules: [
    {
      ...forwarded,
      entry_protocol: 'https',
      entry_port: 443,
      certificate_id: 'c',
      tls_passthrough: false,
    },
  ],
  sticky_sessions: { type: 'cookies', cookie_name: 'lb', cookie_ttl_seconds: 300 },
  enable_proxy_protocol: true,
  droplet_ids: [1, 2],
  tag: '',
  network: 'EXTERNAL',
  type: 'REGIONAL',
}

test('an update of a load balancer keeps what is not given', async () => {
  const answer = { load_balancer: present }
  const { asked, call } = cloud({
    'GET /v2/load_balancers/l': answer,
    'PUT /v2/load_balancers/l': answer,
  })
  await call('load-balancer-update', { LoadBalancerID: 'l', Name: 'new' })
  const { id, ip, ipv6, status, created_at, size, tag, ...kept } = present
  expect(asked[1]).toEqual({
    sent: 'PUT /v2/load_balancers/l',
    body: { ...kept, name: 'new', region: 'nyc3' },
  })
  const https = { ...forward, EntryProtocol: 'https', EntryPort: 443, TargetPort: 9000 }
  await call('load-balancer-update', {
    LoadBalancerID: 'l',
    Name: 'new',
    Tag: 'web',
    ForwardingRules: [https],
  })
  const body = asked[3]?.body as Record<string, unknown>
  expect(body.tag).toBe('web')
  expect(body).not.toHaveProperty('droplet_ids')
  expect(body.forwarding_rules).toMatchObject([{ target_port: 9000, certificate_id: 'c' }])
})

test('changes of one load balancer do not overtake each other', async () => {
  const answer = { load_balancer: present }
  const { asked, call } = cloud({
    'GET /v2/load_balancers/l': answer,
    'PUT /v2/load_balancers/l': answer,
  })
  await Promise.all([
    call('load-balancer-update', { LoadBalancerID: 'l', Name: 'a' }),
    call('load-balancer-add-droplets', { LoadBalancerID: 'l', InstanceIDs: [3] }),
    call('load-balancer-update', { LoadBalancerID: 'l', Name: 'b' }),
  ])
  expect(asked.map(({ sent }) => sent.split(' ')[0])).toEqual(['GET', 'PUT', 'POST', 'GET', 'PUT'])
})
