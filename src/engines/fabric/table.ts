import type { Element, Pieces } from './pieces.ts'

/** Two tables take turns: the next is built beside the one in force, then takes its place. */
export type TableName = 'cove_a' | 'cove_b'

export const otherTable = (name: TableName): TableName => (name === 'cove_a' ? 'cove_b' : 'cove_a')

/** Sets and maps of the table, without anything in force yet. */
export const skeleton = (table: TableName): string[] => [
  `add table inet ${table}`,
  `add set inet ${table} own4 { type ifname . ipv4_addr; }`,
  `add set inet ${table} own6 { type ifname . ipv6_addr; }`,
  `add set inet ${table} private { type ipv4_addr; flags interval; }`,
  `add element inet ${table} private { 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 }`,
  `add set inet ${table} reach { type ipv4_addr . ipv4_addr; flags interval; }`,
  `add map inet ${table} guarded_in { type ifname : verdict; }`,
  `add map inet ${table} guarded_out { type ifname : verdict; }`,
  `add map inet ${table} to4 { type ipv4_addr : ipv4_addr; }`,
  `add map inet ${table} from4 { type ipv4_addr : ipv4_addr; }`,
  `add map inet ${table} to6 { type ipv6_addr : ipv6_addr; }`,
  `add map inet ${table} from6 { type ipv6_addr : ipv6_addr; }`,
]

/**
 * Puts the table in force. Whose address a packet carries and whether two private networks are
 * linked is asked of every packet, so a separation also ends what runs; firewalls are asked of the
 * first packet of a flow only, so a change of rules ends nothing. What is let in is judged after
 * translation, by the address that the receiver sees.
 */
export const inForce = (table: TableName): string[] => {
  const chain = (name: string, hook: string, rules: string[]) => [
    `add chain inet ${table} ${name} { type ${hook}; }`,
    ...rules.map((rule) => `add rule inet ${table} ${name} ${rule}`),
  ]
  return [
    ...chain('translate_in', 'nat hook prerouting priority dstnat; policy accept', [
      'dnat ip to ip daddr map @to4',
      'dnat ip6 to ip6 daddr map @to6',
    ]),
    ...chain('pass', 'filter hook forward priority filter; policy drop', [
      'meta nfproto ipv4 iifname . ip saddr != @own4 drop',
      'meta nfproto ipv6 iifname . ip6 saddr != @own6 drop',
      'ip saddr @private ip saddr . ip daddr != @reach drop',
      'ip daddr @private ip saddr . ip daddr != @reach drop',
      'ct state established,related accept',
      'ct state invalid drop',
      'iifname vmap @guarded_out',
      'accept',
    ]),
    ...chain('translate_out', 'nat hook postrouting priority srcnat; policy accept', [
      'snat ip to ip saddr map @from4',
      'snat ip6 to ip6 saddr map @from6',
    ]),
    ...chain('enter', 'filter hook postrouting priority srcnat + 10; policy accept', [
      'ip6 saddr fe80::/10 accept', // The router asks for a neighbour; such packets are never passed on.
      'ct state established,related accept',
      'oifname vmap @guarded_in',
    ]),
    ...chain('router', 'filter hook input priority filter; policy drop', [
      'icmpv6 type nd-neighbor-solicit accept',
      'icmpv6 type nd-neighbor-advert accept',
      'icmp type echo-request accept',
    ]),
  ]
}

/** The commands that make one state of some pieces another; in one transaction, in this order. */
export const difference = (
  table: TableName,
  changes: readonly (readonly [before: Pieces | undefined, after: Pieces])[],
): string[] => {
  const commands = { chains: [], drops: [], rules: [], puts: [], empties: [], ends: [] }
  const { chains, drops, rules, puts, empties, ends }: Record<keyof typeof commands, string[]> =
    commands
  for (const [before, after] of changes) {
    for (const [name, wanted] of after.chains) {
      const present = before?.chains.get(name)
      if (present && same(present, wanted)) continue
      chains.push(`${present ? 'flush' : 'add'} chain inet ${table} ${name}`)
      for (const rule of wanted) rules.push(`add rule inet ${table} ${name} ${rule}`)
    }
    for (const name of before?.chains.keys() ?? []) {
      if (after.chains.has(name)) continue
      empties.push(`flush chain inet ${table} ${name}`)
      ends.push(`delete chain inet ${table} ${name}`)
    }
    for (const [id, element] of before?.elements ?? []) {
      if (after.elements.get(id)?.value === element.value && after.elements.has(id)) continue
      drops.push(`delete element inet ${table} ${element.set} { ${element.key} }`)
    }
    for (const [id, element] of after.elements) {
      const present = before?.elements.get(id)
      if (present && present.value === element.value) continue
      puts.push(`add element inet ${table} ${element.set} { ${shown(element)} }`)
    }
  }
  return [...chains, ...drops, ...rules, ...puts, ...empties, ...ends]
}

const shown = ({ key, value }: Element): string => (value === undefined ? key : `${key} : ${value}`)

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((rule, at) => rule === b[at])
