import type { Zone, ZoneRecord } from '#engines/dns/zone.ts'
import type { DomainRecord } from './contract.ts'
import type { RecordState, ZoneState } from './records.ts'

/** Servers that every zone names; the system's own zone says where they are. */
export const systemZone = 'cove.internal'
export const nameServers = ['ns1', 'ns2', 'ns3'].map((host) => `${host}.${systemZone}`)

/** The whole name of a record: `www` in example.com is www.example.com. */
export const absoluteName = (name: string, domain: string): string =>
  name === '@' ? domain : `${name}.${domain}`

/**
 * The name within the domain, however it was written: `www`, `www.example.com` or
 * `www.example.com.`; undefined when it lies outside.
 */
export const relativeName = (given: string, domain: string): string | undefined => {
  const name = given.toLowerCase()
  const bare = name.replace(/\.$/, '')
  if (bare === '@' || bare === domain) return '@'
  if (bare.endsWith(`.${domain}`)) return bare.slice(0, -domain.length - 1)
  return name.endsWith('.') ? undefined : bare
}

/** The host a record points to: `@` is the domain, a single label a name in it. */
const hostOf = (data: string, domain: string): string => {
  if (data === '@') return domain
  if (data === '.') return '.'
  const bare = data.toLowerCase().replace(/\.$/, '')
  return data.includes('.') ? bare : absoluteName(bare, domain)
}

/** Text in quotes is read as a zone file has it; anything else is one value as it stands. */
const stringsOf = (data: string): string[] => {
  const quoted = data.match(/"((?:[^"\\]|\\.)*)"/g)
  if (!quoted || quoted.join(' ') !== data.trim().replace(/"\s+"/g, '" "')) return [data]
  return quoted.map((part) => part.slice(1, -1).replace(/\\(.)/g, '$1'))
}

const pointing = new Set(['CNAME', 'MX', 'NS', 'SRV'])

export const servedRecord = (record: RecordState): ZoneRecord => {
  const { domain, type, ttl, priority, weight, port, flags, tag } = record
  const data = pointing.has(type)
    ? hostOf(record.data, domain)
    : type === 'TXT'
      ? stringsOf(record.data)
      : record.data
  return {
    name: absoluteName(record.name, domain),
    type,
    ttl,
    data,
    ...(priority !== null && { priority }),
    ...(weight !== null && { weight }),
    ...(port !== null && { port }),
    ...(flags !== null && { flags }),
    ...(tag !== null && { tag }),
  }
}

export const servedZone = (zone: ZoneState, records: readonly RecordState[]): Zone => ({
  name: zone.name,
  serial: zone.serial,
  negativeTtl: zone.ttl,
  primary: nameServers[0] ?? systemZone,
  contact: `hostmaster.${zone.name}`,
  records: records.map(servedRecord),
})

/** The zone as text that other name servers can read. */
export const zoneFile = (zone: ZoneState, records: readonly RecordState[]): string => {
  const { name, primary, contact, serial, negativeTtl } = servedZone(zone, [])
  const soa = `${primary}. ${contact}. ${serial} 10800 3600 604800 ${negativeTtl}`
  return [
    `$ORIGIN ${name}.`,
    `$TTL ${zone.ttl}`,
    `${name}. IN SOA ${soa}`,
    ...records.map((record) => line(servedRecord(record))),
    '',
  ].join('\n')
}

const line = (record: ZoneRecord): string =>
  `${record.name}. ${record.ttl} IN ${record.type} ${value(record)}`

const value = (record: ZoneRecord): string => {
  const data = typeof record.data === 'string' ? record.data : ''
  const host = data === '.' ? '.' : `${data}.`
  switch (record.type as DomainRecord['type']) {
    case 'CNAME':
    case 'NS':
      return host
    case 'MX':
      return `${record.priority} ${host}`
    case 'SRV':
      return `${record.priority} ${record.weight} ${record.port} ${host}`
    case 'CAA':
      return `${record.flags} ${record.tag} ${quoted(data)}`
    case 'TXT':
      return (typeof record.data === 'string' ? [record.data] : record.data)
        .flatMap((text) => text.match(/[\s\S]{1,255}/g) ?? [''])
        .map(quoted)
        .join(' ')
    default:
      return data
  }
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`
