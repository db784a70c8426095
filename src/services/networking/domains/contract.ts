import { z } from 'zod'
import { DomainName, isHostName, isOwnerName } from '#core/host.ts'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty } from '#core/schema.ts'

export const recordTypes = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'] as const
export type RecordType = (typeof recordTypes)[number]

export const Domain = z.object({
  name: z.string(),
  ttl: z.number().int().nullable(),
  zone_file: z.string().nullable(),
})
export type Domain = z.output<typeof Domain>

export const DomainRecord = z.object({
  id: z.number().int(),
  type: z.string(),
  name: z.string(),
  data: z.string(),
  priority: z.number().int().nullable(),
  port: z.number().int().nullable(),
  ttl: z.number().int(),
  weight: z.number().int().nullable(),
  flags: z.number().int().nullable(),
  tag: z.string().nullable(),
})
export type DomainRecord = z.output<typeof DomainRecord>

export const NewDomain = z.object({
  name: DomainName,
  ip_address: absentWhenEmpty(z.ipv4()),
})

const short = z.number().int().min(0).max(65_535).nullish()

/** Every field a record may have; which of them it must have depends on its type. */
const fields = {
  type: z
    .string()
    .transform((type) => type.toUpperCase())
    .pipe(z.enum(recordTypes)),
  name: z.string(),
  data: z.string(),
  priority: short,
  port: short,
  weight: short,
  flags: z.number().int().min(0).max(255).nullish(),
  tag: absentWhenEmpty(z.enum(['issue', 'issuewild', 'iodef'])),
  ttl: absentWhenEmpty(z.number().int().min(0).max(2_147_483_647)),
}

export const NewRecord = z
  .object({ ...fields, name: fields.name.default('@') })
  .superRefine((record, context) => {
    const say = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (record.name !== '@' && !isOwnerName(record.name)) {
      say('name', 'must be @, * or a host name such as www, of letters, digits, - and _')
    }
    const problem = dataProblem(record.type, record.data)
    if (problem) say('data', problem)
    for (const field of needed[record.type] ?? []) {
      if (record[field] === undefined || record[field] === null) {
        say(field, `is required for ${record.type} records`)
      }
    }
    if (record.type === 'CNAME' && record.name === '@') {
      say('name', 'must not be @ for a CNAME, which cannot stand beside the SOA and NS records')
    }
  })
export type NewRecord = z.output<typeof NewRecord>

/** Fields that are left out keep their value. */
export const RecordChange = z.object({
  ...fields,
  type: fields.type.optional(),
  name: absentWhenEmpty(z.string()),
  data: absentWhenEmpty(z.string()),
})

const needed: Partial<Record<RecordType, ('priority' | 'port' | 'weight' | 'flags' | 'tag')[]>> = {
  MX: ['priority'],
  SRV: ['priority', 'port', 'weight'],
  CAA: ['flags', 'tag'],
}

const dataProblem = (type: RecordType, data: string): string | undefined => {
  if (data === '') return 'must not be empty'
  switch (type) {
    case 'A':
      return z.ipv4().safeParse(data).success ? undefined : 'must be an IPv4 address for A records'
    case 'AAAA':
      return z.ipv6().safeParse(data).success
        ? undefined
        : 'must be an IPv6 address for AAAA records'
    case 'CNAME':
    case 'MX':
    case 'NS':
    case 'SRV':
      return data === '@' || data === '.' || isTarget(data)
        ? undefined
        : `must be a host name such as mail.example.com. or @ for ${type} records`
    case 'CAA':
      return /^[\x20-\x7e]{1,255}$/.test(data)
        ? undefined
        : 'must be a certificate authority such as letsencrypt.org or a mailto: or https: address'
    case 'TXT':
      return Buffer.byteLength(data) <= 4096 ? undefined : 'must have at most 4096 bytes'
  }
}

const isTarget = (data: string): boolean => isHostName(data.replace(/(^|\.)_/g, '$1'))

const domain = resource('domain')

export const domains = {
  list: domain.get('/v2/domains', { query: Page, returns: listOf('domains', Domain) }),
  create: domain.post('/v2/domains', { body: NewDomain, returns: one('domain', Domain) }),
  get: domain.get('/v2/domains/:name', { returns: one('domain', Domain) }),
  delete: domain.del('/v2/domains/:name'),
}

export const domainRecords = {
  list: domain.get('/v2/domains/:domain/records', {
    query: Page.extend({
      name: absentWhenEmpty(z.string()),
      type: absentWhenEmpty(z.enum([...recordTypes, 'SOA'])),
    }),
    returns: listOf('domain_records', DomainRecord),
  }),
  create: domain.post('/v2/domains/:domain/records', {
    body: NewRecord,
    returns: one('domain_record', DomainRecord),
  }),
  get: domain.get('/v2/domains/:domain/records/:id', {
    returns: one('domain_record', DomainRecord),
  }),
  update: domain.put('/v2/domains/:domain/records/:id', {
    body: RecordChange,
    returns: one('domain_record', DomainRecord),
  }),
  patch: domain.patch('/v2/domains/:domain/records/:id', {
    body: RecordChange,
    returns: one('domain_record', DomainRecord),
  }),
  delete: domain.del('/v2/domains/:domain/records/:id'),
}
