import { findHolders, type Holder, holderOf } from '#engines/fabric/holder.ts'
import { type LabMode, spawnOf } from './lab.ts'

interface Item {
  table?: unknown
  chain?: { name: string; hook?: string; prio?: number; policy?: string }
  rule?: { chain: string; expr: unknown }
  set?: Named
  map?: Named
}
interface Named {
  name: string
  elem?: unknown[]
}

/** What the kernel has, read from it and free of what depends on history: handles, order, turns. */
export const kernelState = async (owner: string, mode: LabMode) => {
  const holders = findHolders(owner)
  if (holders.length === 0) return { holders: 0 }
  const holder = holderOf(spawnOf(mode), mode, holders[0] ?? 0)
  const { nftables } = JSON.parse(await holder.run(['nft', '-j', 'list', 'ruleset'])) as {
    nftables: Item[]
  }
  const chains: Record<string, unknown[]> = {}
  const sets: Record<string, string[]> = {}
  for (const { chain, rule, set, map } of nftables) {
    if (chain) chains[chain.name] = [[chain.hook, chain.prio, chain.policy].join(' ')]
    if (rule) chains[rule.chain]?.push(JSON.stringify(rule.expr))
    const named = set ?? map
    if (named) sets[named.name] = (named.elem ?? []).map((each) => JSON.stringify(each)).sort()
  }
  return {
    holders: holders.length,
    tables: nftables.filter(({ table }) => table).length,
    chains,
    sets,
    hosts: await hostsOf(holder),
  }
}

const hostsOf = async (holder: Holder) => {
  const script = `for h in $(ip netns list | cut -d' ' -f1 | sort); do
    echo "= $h"
    ip -n $h -o addr show dev eth0 | grep -v 'scope link' | awk '{print $3, $4}' | sort
    ip -n $h route | sort; ip -n $h -6 route | grep default
  done
  echo "= router"
  ip route | sort; ip -6 route | grep -v fe80 | sort
  ip -o link show type veth | grep -o 'alias .*' | sort`
  return (await holder.run(['sh', '-c', script])).split('\n')
}
