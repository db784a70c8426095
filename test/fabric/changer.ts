import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { type Change, emptyNetwork, merge } from '#engines/fabric/desired.ts'
import { createFabric } from '#engines/fabric/fabric.ts'
import { type LabMode, spawnOf } from './lab.ts'

/** Changes a network for ever, a child of tests; each change is written down before it is made. */

/** The changes that were written down, in order. */
export const changesIn = (notes: string): Change[] =>
  existsSync(notes)
    ? readFileSync(notes, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []

/** The network that the notes say there should be. */
export const noted = (notes: string): Change => {
  const network = emptyNetwork()
  for (const change of changesIn(notes)) merge(network, change)
  const { hosts, links, firewalls, translations } = network
  return {
    hosts: Object.fromEntries(hosts),
    links: Object.fromEntries(links),
    firewalls: Object.fromEntries(firewalls),
    translations: Object.fromEntries(translations),
  }
}

const upTo = (count: number): number => 1 + Math.floor(Math.random() * count)

const randomChange = (): Change => {
  const number = upTo(5)
  const host = `h${number}`
  const addresses = { private: `10.${number}.0.2`, public: `198.18.7.${number}` }
  const rules = Array.from({ length: upTo(20) }, () => ({
    protocol: 'tcp' as const,
    ports: [upTo(100), 100 + upTo(100)] as [number, number],
    peers: [`10.${upTo(250)}.0.0/16`],
  }))
  const firewall = { inbound: rules, outbound: rules.slice(1), hosts: [host, `h${upTo(5)}`] }
  const range = `10.${number}.0.0/16`
  const changes: Change[] = [
    { hosts: { [host]: addresses } },
    {
      hosts: {
        [host]: Math.random() < 0.5 ? null : { ...addresses, public6: `2001:2::7:${number}` },
      },
    },
    { firewalls: { [`f${upTo(6)}`]: firewall } },
    { firewalls: { [`f${upTo(6)}`]: firewall } },
    { firewalls: { [`f${upTo(6)}`]: Math.random() < 0.3 ? null : firewall } },
    { links: { [`v${number}`]: { from: range, to: range } } },
    {
      links: { [`p${number}`]: Math.random() < 0.5 ? null : { from: range, to: '10.200.0.0/16' } },
    },
    { translations: { [`198.19.7.${number}`]: Math.random() < 0.4 ? null : { host } } },
  ]
  return changes[upTo(changes.length) - 1] ?? {}
}

const main = async (mode: LabMode, owner: string, notes: string) => {
  const fabric = createFabric({ mode, owner, spawn: spawnOf(mode), log: () => {} })
  await fabric.start(noted(notes))
  writeSync(1, 'ready\n')
  await new Promise((resolve) => process.stdin.once('data', resolve))
  for (;;) {
    const changes = Array.from({ length: upTo(3) }, randomChange)
    for (const change of changes) appendFileSync(notes, `${JSON.stringify(change)}\n`)
    await Promise.all(changes.map((change) => fabric.change(change)))
  }
}

const [, , mode, owner, notes] = process.argv
if (mode && owner && notes) void main(mode as LabMode, owner, notes)
