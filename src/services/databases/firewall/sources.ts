import { isIPv4 } from 'node:net'
import { ApiError } from '#core/error.ts'
import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'
import { taggedWith } from '../../compute/tags/taggings.ts'
import type { NewTrustedSource, TrustedSource } from './contract.ts'

/** The addresses that rules stand for now; an empty list of rules admits anyone. */
export const sourcesOf = async (
  store: Store,
  rules: readonly TrustedSource[],
): Promise<string[] | 'anyone'> => {
  if (rules.length === 0) return 'anyone'
  const found = await Promise.all(rules.map((rule) => addressesOf(store, rule)))
  return [...new Set(found.flat())]
}

const addressesOf = async (store: Store, { type, value }: TrustedSource): Promise<string[]> => {
  const droplets = store.collection(dropletRecords)
  if (type === 'ip_addr') return [value]
  if (type === 'app' || type === 'k8s') return []
  const ids = type === 'droplet' ? [value] : await taggedWith(store, 'droplet', [value])
  const records = await Promise.all(ids.map((id) => droplets.get(Number(id))))
  return records.flatMap((record) =>
    record?.ip_address && isIPv4(record.ip_address) ? [record.ip_address] : [],
  )
}

/** Refuse what could never match, with what would be right. */
export const checkSource = async (store: Store, rule: NewTrustedSource, at: string) => {
  const wrong = (right: string) =>
    ApiError.invalid(
      `${at}.value must be ${right}; it is ${JSON.stringify(rule.value.slice(0, 80))}.`,
    )
  if (rule.type === 'ip_addr') {
    const [address = '', bits, rest] = rule.value.split('/')
    const block = bits === undefined || (/^\d{1,2}$/.test(bits) && Number(bits) <= 32)
    if (address.includes(':')) throw wrong('an IPv4 address or block; IPv6 is not accepted')
    if (!isIPv4(address) || !block || rest !== undefined)
      throw wrong('an IPv4 address or block such as 10.0.0.0/8')
  }
  if (rule.type === 'droplet') {
    const known =
      /^\d+$/.test(rule.value) && (await store.collection(dropletRecords).get(Number(rule.value)))
    if (!known) throw wrong('the id of an instance')
  }
  if (rule.type === 'tag' && !/^[\p{L}\p{N}_\-:]{1,255}$/u.test(rule.value)) throw wrong('a tag')
  if ((rule.type === 'app' || rule.type === 'k8s') && !/^[0-9a-f-]{36}$/i.test(rule.value))
    throw wrong('a UUID')
}
