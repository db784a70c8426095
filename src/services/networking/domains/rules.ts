import { ApiError } from '#core/error.ts'
import { issuesOf } from '#core/schema.ts'
import { type DomainRecord, NewRecord } from './contract.ts'
import type { RecordState } from './records.ts'
import { absoluteName, relativeName } from './zone-file.ts'

/** Fields that mean something for a type; clients send zeros in the others. */
const own: Record<string, (keyof DomainRecord)[]> = {
  MX: ['priority'],
  SRV: ['priority', 'port', 'weight'],
  CAA: ['flags', 'tag'],
}

const longestName = 253

/** A record as it is to be kept: named within its domain, with the fields of its type. */
export const settled = (
  given: NewRecord,
  domain: string,
  id: number,
  defaultTtl: number,
): RecordState => {
  const name = relativeName(given.name, domain)
  if (name === undefined) {
    throw ApiError.invalid(`name ${given.name} is outside the domain ${domain}.`)
  }
  if (absoluteName(name, domain).length > longestName) {
    throw ApiError.invalid(
      `name is too long: with ${domain} it has more than ${longestName} characters.`,
    )
  }
  if (given.type === 'CNAME' && name === '@') {
    throw ApiError.invalid(
      'name must not be the domain itself for a CNAME, which must be alone there.',
    )
  }
  const has = (field: keyof DomainRecord) => own[given.type]?.includes(field) ?? false
  return {
    id,
    domain,
    type: given.type,
    name,
    data: given.type === 'TXT' || given.data === '.' ? given.data : given.data.replace(/\.$/, ''),
    priority: has('priority') ? (given.priority ?? 0) : null,
    port: has('port') ? (given.port ?? 0) : null,
    weight: has('weight') ? (given.weight ?? 0) : null,
    flags: has('flags') ? (given.flags ?? 0) : null,
    tag: has('tag') ? (given.tag ?? null) : null,
    ttl: given.ttl || defaultTtl,
  }
}

/** Real DNS has room for the record beside what its name holds already. */
export const checkBeside = (record: RecordState, others: readonly RecordState[]): void => {
  const full = absoluteName(record.name, record.domain)
  const alias = others.find(({ type }) => type === 'CNAME')
  if (alias) {
    throw ApiError.invalid(
      `name ${full} has a CNAME record (${alias.id}), which must be alone at its name.`,
    )
  }
  if (record.type === 'CNAME' && others.length > 0) {
    const types = [...new Set(others.map(({ type }) => type))].join(', ')
    throw ApiError.invalid(
      `name ${full} has ${types} records already; a CNAME must be alone at its name.`,
    )
  }
  const same = others.find((other) => sayingOf(other) === sayingOf(record))
  if (same) {
    throw ApiError.invalid(`The ${record.type} record ${full} with this data exists: ${same.id}.`)
  }
}

const sayingOf = ({ id: _id, ttl: _ttl, data, ...rest }: RecordState): string =>
  JSON.stringify([data.toLowerCase(), Object.entries(rest).sort()])

/** The change of a record, checked as a new one would be. */
export const changed = (current: RecordState, change: object): NewRecord => {
  const given = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined && value !== null),
  )
  const result = NewRecord.safeParse({ ...current, tag: current.tag ?? undefined, ...given })
  if (!result.success) throw ApiError.invalid(`${issuesOf(result.error)}.`)
  return result.data
}
