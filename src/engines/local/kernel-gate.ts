import type { Door, Gate } from './gate.ts'
import { run } from './run.ts'

/**
 * An nftables table of Cove's own, replaced whole and atomically at every change; the host's rules
 * are never touched. It stays in force when Cove is killed.
 */
export const kernelGate = (table: string): Gate => {
  const doors = new Map<string, Door>()
  let last: Promise<unknown> = Promise.resolve()
  const apply = () => {
    const next = last.then(() => run({ argv: ['nft', '-f', '-'], input: ruleset(table, doors) }))
    last = next.catch(() => undefined)
    return next
  }
  return {
    kind: 'kernel',
    inner: (address) => address,
    set: async (id, door) => {
      doors.set(id, door)
      await apply()
      if (door.sources !== 'anyone') await cut(door.address, door.sources)
      return { enforced: true, by: 'the kernel filter' }
    },
    clear: async (id) => {
      if (doors.delete(id)) await apply()
    },
    close: async () => {
      await last
      await run({ argv: ['nft', 'add', 'table', 'ip', table] })
      await run({ argv: ['nft', 'delete', 'table', 'ip', table] })
    },
  }
}

/** Carried over the loopback device by packets of the cluster's own servers. */
const ourMark = '0xc07e'

const ruleset = (table: string, doors: Map<string, Door>): string => {
  const closed = [...doors.values()].filter((door) => door.sources !== 'anyone')
  const chains = closed.map(
    (door, n) => `  chain c${n} {
    ip saddr { ${[door.address, ...merged(door.sources)].join(', ')} } accept
    meta l4proto tcp reject with tcp reset
    drop
  }`,
  )
  const marks = closed.flatMap((door) =>
    door.uid === undefined
      ? []
      : [`    ip daddr ${door.address} meta skuid ${door.uid} meta mark set ${ourMark}`],
  )
  const jumps = closed.map((door, n) => `${door.address} : jump c${n}`).join(', ')
  return `table ip ${table}
delete table ip ${table}
table ip ${table} {
${chains.join('\n')}
  chain output {
    type filter hook output priority -5; policy accept;
${marks.join('\n')}
  }
  chain input {
    type filter hook input priority -5; policy accept;
    meta mark ${ourMark} accept
${jumps ? `    ip daddr vmap { ${jumps} }` : ''}
  }
}
`
}

/** A set of the filter may not hold an address twice, nor blocks that overlap. */
const merged = (sources: Door['sources']): string[] => {
  if (sources === 'anyone') return []
  const blocks = [...new Set(sources)].map((source) => ({ source, ...range(source) }))
  return blocks
    .filter(
      (one) =>
        !blocks.some(
          (other) =>
            other !== one &&
            other.first <= one.first &&
            other.last >= one.last &&
            (other.last - other.first > one.last - one.first || other.source < one.source),
        ),
    )
    .map((block) => block.source)
}

const range = (source: string) => {
  const [address = '', bits = '32'] = source.split('/')
  const value = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - Number(bits))
  const first = Math.floor(value / size) * size
  return { first, last: first + size - 1 }
}

/** End the connections that the new rules no longer allow; without `ss` they end at their next packet. */
const cut = async (address: string, sources: readonly string[]) => {
  const kept = [address, ...sources].map((source) => `not dst ${source}`).join(' and ')
  await run({
    argv: [
      'ss',
      '-4',
      '-K',
      '-H',
      'state',
      'connected',
      'src',
      address,
      'and',
      '(',
      ...kept.split(' '),
      ')',
    ],
  }).catch(() => undefined)
}
