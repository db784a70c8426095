import { execFile } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import { domainRecords, domains } from './contract.ts'

const run = promisify(execFile)

let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(() => cove.close())

/** A resolver that asks our server and nobody else. */
const resolver = (): Resolver => {
  const dns = cove.cove.status().dns
  const asking = new Resolver({ timeout: 1000, tries: 2 })
  asking.setServers([`${dns?.host}:${dns?.port}`])
  return asking
}

const dig = async (...words: string[]): Promise<string> => {
  const { host, port } = cove.cove.status().dns ?? { host: '', port: 0 }
  const { stdout } = await run('dig', [`@${host}`, '-p', String(port), '+norecurse', ...words])
  return stdout
}

const newDomain = async (name: string) => {
  await cove.tool('domain-create', { Name: name, IPAddress: '192.0.2.10' })
  return name
}

const addRecord = async (Domain: string, Type: string, Name: string, Data: string) => {
  const made = await cove.tool('domain-record-create', { Domain, Type, Name, Data })
  return made.domain_record as { id: number; name: string; data: string; ttl: number }
}

test('a domain is created, answered, changed and deleted', async () => {
  const created = await cove.call('domain-create', {
    Name: 'Story.Example',
    IPAddress: '192.0.2.10',
  })
  const dns = cove.cove.status().dns
  expect(created.content[1]?.text).toContain(`127.0.0.1 port ${dns?.port}`)
  expect(created.structuredContent?.domain).toMatchObject({ name: 'story.example', ttl: 1800 })

  expect(await resolver().resolve4('story.example')).toEqual(['192.0.2.10'])
  expect((await resolver().resolveNs('story.example')).sort()).toEqual([
    'ns1.cove.internal',
    'ns2.cove.internal',
    'ns3.cove.internal',
  ])
  expect(await resolver().resolve4('ns1.cove.internal')).toEqual(['127.0.0.1'])
  expect(await resolver().resolveSoa('story.example')).toMatchObject({
    nsname: 'ns1.cove.internal',
    minttl: 1800,
  })

  const record = await addRecord('story.example', 'A', 'www', '192.0.2.11')
  expect(await resolver().resolve4('www.story.example')).toEqual(['192.0.2.11'])
  await cove.tool('domain-record-edit', {
    Domain: 'story.example',
    RecordID: record.id,
    Type: 'A',
    Name: 'web',
    Data: '192.0.2.12',
  })
  await expect(resolver().resolve4('www.story.example')).rejects.toThrow('ENOTFOUND')
  expect(await resolver().resolve4('web.story.example')).toEqual(['192.0.2.12'])

  const { domain } = await cove.api(domains.get, { path: { name: 'story.example' } })
  expect(domain.zone_file).toContain('web.story.example. 1800 IN A 192.0.2.12')

  await cove.tool('domain-record-delete', { Domain: 'story.example', RecordID: record.id })
  await expect(resolver().resolve4('web.story.example')).rejects.toThrow('ENOTFOUND')
  await cove.tool('domain-delete', { Name: 'story.example' })
  await expect(resolver().resolve4('story.example')).rejects.toThrow('EREFUSED')
  expect(await cove.refusal('domain-get', { Name: 'story.example' })).toContain(
    'Domain story.example was not found',
  )
})

test('every type of record is answered as it was written', async () => {
  const domain = await newDomain('types.example')
  await addRecord(domain, 'AAAA', '@', '2001:db8::10')
  await addRecord(domain, 'CNAME', 'blog', '@')
  await addRecord(domain, 'MX', '@', '10 mail')
  await addRecord(domain, 'SRV', '_sip._tcp', '10 5 5060 sip.types.example.')
  await addRecord(domain, 'CAA', '@', '0 issue "ca.example"')
  await addRecord(domain, 'TXT', '@', 'v=spf1 -all')
  await addRecord(domain, 'TXT', '@', 'second value')
  await addRecord(domain, 'TXT', 'key._domainkey', `v=DKIM1; p=${'A'.repeat(400)}`)
  await addRecord(domain, 'A', '*', '192.0.2.99')
  const ask = resolver()
  expect(await ask.resolve6(domain)).toEqual(['2001:db8::10'])
  expect(await ask.resolveCname(`blog.${domain}`)).toEqual([domain])
  expect(await ask.resolve4(`blog.${domain}`)).toEqual(['192.0.2.10'])
  expect(await ask.resolveMx(domain)).toEqual([{ priority: 10, exchange: `mail.${domain}` }])
  expect(await ask.resolveSrv(`_sip._tcp.${domain}`)).toEqual([
    { priority: 10, weight: 5, port: 5060, name: 'sip.types.example' },
  ])
  expect(await ask.resolveCaa(domain)).toEqual([{ critical: 0, issue: 'ca.example' }])
  expect((await ask.resolveTxt(domain)).flat().sort()).toEqual(['second value', 'v=spf1 -all'])
  const [key = []] = await ask.resolveTxt(`key._domainkey.${domain}`)
  expect(key.map((part) => part.length)).toEqual([255, 156])
  expect(await ask.resolve4(`anything.${domain}`)).toEqual(['192.0.2.99'])
})

test('dig sees a real name server', async () => {
  const domain = await newDomain('dig.example')
  await addRecord(domain, 'NS', 'sub', 'ns.sub.dig.example.')
  await addRecord(domain, 'A', 'ns.sub', '192.0.2.53')
  for (let index = 0; index < 30; index++) {
    await addRecord(domain, 'TXT', 'big', `${index} ${'long '.repeat(20)}`)
  }
  expect(await dig('DiG.eXample', 'A')).toMatch(/^DiG\.eXample\.\s+1800\s+IN\s+A\s+192\.0\.2\.10$/m)
  expect(await dig('x.sub.dig.example', 'A')).toMatch(
    /status: NOERROR[\s\S]*AUTHORITY: 1, ADDITIONAL: 2/,
  )
  expect(await dig('+ignore', 'big.dig.example', 'TXT')).toMatch(/flags: qr aa tc/)
  expect(await dig('big.dig.example', 'TXT')).toMatch(/ANSWER: 30[\s\S]*\(TCP\)/)
  expect(await dig('dig.example', 'AXFR')).toContain('Transfer failed')
  expect(await dig('example.net', 'A')).toContain('status: REFUSED')
  expect(await dig('nothing.dig.example', 'A')).toMatch(/status: NXDOMAIN[\s\S]*IN\s+SOA/)
})

test('records that real DNS has no room for are refused with the reason', async () => {
  const domain = await newDomain('rules.example')
  await addRecord(domain, 'A', 'www', '192.0.2.1')
  await addRecord(domain, 'CNAME', 'alias', 'www')
  const cases: [Type: string, Name: string, Data: string, reason: string][] = [
    ['CNAME', 'www', 'other.example.', 'has A records already; a CNAME must be alone'],
    ['A', 'alias', '192.0.2.2', 'has a CNAME record'],
    ['CNAME', '@', 'other.example.', 'name must not be @ for a CNAME'],
    ['CNAME', 'rules.example.', 'other.example.', 'must not be the domain itself for a CNAME'],
    ['A', 'www.other.example.', '192.0.2.1', 'is outside the domain rules.example'],
    ['A', 'www', '192.0.2.1', 'with this data exists'],
    ['A', 'x', '2001:db8::1', 'data must be an IPv4 address for A records'],
    ['A', 'x', '300.0.0.1', 'data must be an IPv4 address for A records'],
    ['AAAA', 'x', '192.0.2.1', 'data must be an IPv6 address for AAAA records'],
    ['A', 'a b', '192.0.2.1', 'name must be @, * or a host name'],
    ['A', `${'x'.repeat(64)}`, '192.0.2.1', 'name must be @, * or a host name'],
    ['A', `${'long.'.repeat(48)}er`, '192.0.2.1', 'name is too long'],
    ['CNAME', 'x', 'not a host', 'data must be a host name'],
    ['MX', 'x', '70000 mail', 'priority must be at most 65535'],
    ['CAA', 'x', '300 issue ca.example', 'flags must be at most 255'],
    ['TXT', 'x', 'x'.repeat(5000), 'data must have at most 4096 bytes'],
  ]
  for (const [Type, Name, Data, reason] of cases) {
    const message = await cove.refusal('domain-record-create', { Domain: domain, Type, Name, Data })
    expect(message, `${Type} ${Name}`).toContain(reason)
  }
  // The API says which field a type misses; the tools read it out of Data.
  const post = (body: object) =>
    cove.fetch(`/v2/domains/${domain}/records`, { method: 'POST', body: JSON.stringify(body) })
  for (const [type, field] of [
    ['MX', 'priority'],
    ['SRV', 'port'],
    ['CAA', 'tag'],
  ]) {
    const response = await post({ type, name: 'x', data: 'host.example.' })
    expect(response.status).toBe(422)
    expect(await response.text()).toContain(`${field} is required for ${type} records`)
  }
  expect(await (await post({ type: 'SOA', name: '@', data: 'x' })).text()).toContain(
    'type must be one of',
  )
  for (const Name of ['nodots', '-bad.example', 'exa mple.com', '1.2.3.4']) {
    expect(await cove.refusal('domain-create', { Name, IPAddress: '192.0.2.1' })).toContain(
      'name must be a domain name such as example.com',
    )
  }
  expect(await cove.refusal('domain-create', { Name: domain, IPAddress: '192.0.2.1' })).toContain(
    'is a domain of this account already',
  )
})

test('clients that fill in zeros for what they do not mean are understood', async () => {
  const domain = await newDomain('zeros.example')
  const body = {
    type: 'a',
    name: 'www',
    data: '192.0.2.1',
    priority: 0,
    port: 0,
    weight: 0,
    flags: 0,
  }
  const response = await cove.fetch(`/v2/domains/${domain}/records`, {
    method: 'POST',
    body: JSON.stringify({ ...body, tag: '', ttl: 0 }),
  })
  expect(response.status).toBe(201)
  expect(await response.json()).toMatchObject({
    domain_record: { type: 'A', priority: null, port: null, flags: null, tag: null, ttl: 1800 },
  })
  const { domain_records: found } = await cove.api(domainRecords.list, {
    path: { domain },
    query: { type: 'A', name: `www.${domain}` },
  })
  expect(found).toHaveLength(1)
  const id = found[0]?.id ?? 0
  await cove.api(domainRecords.patch, { path: { domain, id }, body: { ttl: 60 } })
  const { domain_record: patched } = await cove.api(domainRecords.get, { path: { domain, id } })
  expect(patched).toMatchObject({ data: '192.0.2.1', ttl: 60 })
})

test('many writers of one zone leave DNS as the store says', async () => {
  const domain = await newDomain('busy.example')
  await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const { id } = await addRecord(domain, 'A', 'pool', `192.0.2.${index + 1}`)
      if (index % 3 === 0) await cove.tool('domain-record-delete', { Domain: domain, RecordID: id })
    }),
  )
  const answered = await resolver().resolve4(`pool.${domain}`)
  const kept = await cove.api(domainRecords.list, {
    path: { domain },
    query: { name: `pool.${domain}`, per_page: 100 },
  })
  expect(answered.sort()).toEqual(kept.domain_records.map(({ data }) => data).sort())
  expect(answered).toHaveLength(20)
})
