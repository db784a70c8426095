import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, messageOf } from '#core/error.ts'
import type { Settings } from '../database.ts'
import type { Applied, Node } from '../local/engine.ts'
import { info, withSession } from './client.ts'

interface Mapping {
  /** The server's directive. */
  name: string
  write(value: unknown): string
  read(value: string): unknown
  /** What is in force when nobody asked. */
  initial: string
  /** The server takes it at its start only. */
  atStart?: boolean
}

const number = (name: string, initial: string, atStart = false): Mapping => ({
  name,
  write: String,
  read: Number,
  initial,
  atStart,
})
const text = (name: string, initial: string): Mapping => ({
  name,
  write: String,
  read: (value) => value,
  initial,
})
const mib = 1024 * 1024

const mappings: Record<string, Mapping> = {
  maxmemory_policy: text('maxmemory-policy', 'noeviction'),
  pubsub_client_output_buffer_limit: {
    name: 'client-output-buffer-limit',
    write: (value) => `pubsub ${Number(value) * mib} ${(Number(value) * mib) / 4} 60`,
    read: (value) => Number(/pubsub (\d+)/.exec(value)?.[1] ?? 0) / mib,
    initial: `pubsub ${64 * mib} ${16 * mib} 60`,
  },
  number_of_databases: number('databases', '16', true),
  io_threads: number('io-threads', '1', true),
  lfu_log_factor: number('lfu-log-factor', '10'),
  lfu_decay_time: number('lfu-decay-time', '1'),
  timeout: number('timeout', '300'),
  notify_keyspace_events: text('notify-keyspace-events', ''),
  acl_channels_default: text('acl-pubsub-default', 'allchannels'),
  active_expire_effort: number('active-expire-effort', '1'),
}

/** Settings whose value is spread over several directives. */
const persistence = ['persistence', 'frequent_snapshots', 'ssl'] as const

const short = (name: string) => name.replace(/^(valkey|redis)_/, '')

/** Asked-for values by short name. */
const asked = (settings: Settings): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [short(name), value]))

export const usesTls = (node: Node) => asked(node.cluster.settings).ssl !== false
export const wantsAof = (node: Node) => asked(node.cluster.settings).persistence === 'aof'

const snapshots = (wanted: Record<string, unknown>): string => {
  const how = wanted.persistence ?? 'rdb'
  if (how !== 'rdb') return ''
  return wanted.frequent_snapshots === false ? '3600 1 300 10' : '60 1 10 100'
}

/** Lines of the server's configuration file for what was asked. */
export const directives = (node: Node): [string, string][] => {
  const wanted = asked(node.cluster.settings)
  return [
    ...Object.entries(mappings).map(([name, mapping]): [string, string] => [
      mapping.name,
      wanted[name] === undefined ? mapping.initial : mapping.write(wanted[name]),
    ]),
    ['save', snapshots(wanted)],
  ]
}

export const readConfig = (node: Node): Promise<Settings> =>
  withSession(node, async (client) => {
    const found = new Map<string, string>()
    const names = [
      ...Object.values(mappings).map((mapping) => mapping.name),
      'save',
      'appendonly',
      'tls-port',
    ]
    const list = (await client.config('GET', ...(names as [string]))) as string[]
    for (let at = 0; at < list.length; at += 2) found.set(list[at] ?? '', list[at + 1] ?? '')
    const save = found.get('save') ?? ''
    const settings: Settings = Object.fromEntries(
      Object.entries(mappings).flatMap(([name, mapping]) => {
        const value = found.get(mapping.name)
        return value === undefined ? [] : [[`valkey_${name}`, mapping.read(value)]]
      }),
    )
    return {
      ...settings,
      valkey_persistence: found.get('appendonly') === 'yes' ? 'aof' : save === '' ? 'off' : 'rdb',
      valkey_ssl: found.get('tls-port') !== '0',
      frequent_snapshots: save.startsWith('60 '),
    }
  })

export const applyConfig = async (nodes: readonly Node[], patch: Settings): Promise<Applied> => {
  const changed = asked(patch)
  const atStart = Object.keys(changed).some((name) => mappings[name]?.atStart || name === 'ssl')
  const live = Object.entries(changed).flatMap(([name, value]): [string, string][] => {
    const mapping = mappings[name]
    if (!mapping || mapping.atStart) return []
    return [[mapping.name, value === null ? mapping.initial : mapping.write(value)]]
  })
  for (const node of nodes) {
    const wanted = { ...asked(node.cluster.settings), ...changed }
    if (persistence.some((name) => name in changed))
      live.push(
        ['save', snapshots(wanted)],
        ['appendonly', wanted.persistence === 'aof' ? 'yes' : 'no'],
      )
    await withSession(node, async (client) => {
      for (const [name, value] of live)
        await client.config('SET', name, value).catch((error: unknown) => {
          throw ApiError.invalid(`${name} was refused by the server: ${messageOf(error)}.`)
        })
      // A log that is still being begun would not survive a crash.
      if (live.some(([name, value]) => name === 'appendonly' && value === 'yes'))
        while ((await info(client, 'persistence')).aof_rewrite_in_progress === '1') await sleep(20)
    })
  }
  return { restart: atStart, notEnforced: {} }
}
