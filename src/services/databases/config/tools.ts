import { z } from 'zod'
import { ApiError } from '#core/error.ts'
import { issuesOf } from '#core/schema.ts'
import { commaList, jsonText, settings } from '#mcp/args.ts'
import { call, script, type Tool } from '#mcp/tool.ts'
import { id } from '../args.ts'
import { databaseConfig } from './contract.ts'
import { configFields } from './fields.ts'
import { usualSettings } from './usual.ts'

type Kind = keyof typeof configFields

/** The tools that read and write an engine's settings, by the kinds of cluster they are for. */
const families = [
  {
    get: 'db-cluster-get-kafka-config',
    update: 'db-cluster-update-kafka-config',
    kinds: ['kafka'],
    called: 'Kafka',
  },
  {
    get: 'db-cluster-get-mongodb-config',
    update: 'db-cluster-update-mongodb-config',
    kinds: ['mongodb'],
    called: 'MongoDB',
  },
  {
    get: 'db-cluster-get-opensearch-config',
    update: 'db-cluster-update-os-config',
    kinds: ['opensearch'],
    called: 'OpenSearch',
  },
  {
    get: 'db-cluster-get-postgresql-config',
    update: 'db-cluster-update-psql-config',
    kinds: ['pg'],
    called: 'PostgreSQL',
  },
  {
    get: 'db-cluster-get-mysql-config',
    update: 'db-cluster-update-mysql-config',
    kinds: ['mysql'],
    called: 'MySQL',
  },
  {
    get: 'db-cluster-get-redis-config',
    update: 'db-cluster-update-redis-config',
    kinds: ['redis', 'valkey'],
    called: 'Redis or Valkey',
  },
] as const satisfies { get: string; update: string; kinds: Kind[]; called: string }[]

type Family = (typeof families)[number]
type Settings = Record<string, unknown>

/** In one earlier listing these tools spell the argument in capitals. */
const spellings = { ID: 'id' }

const getTool = (family: Family): Tool =>
  call(databaseConfig.get, {
    title: `Get ${family.called} settings`,
    about: `Get the ${family.called} settings in force on a cluster.`,
    args: { id },
    ...(family.called === 'MySQL' ? { spellings } : {}),
    request: (a) => ({ path: { id: a.id } }),
    returns: databaseConfig.get.returns,
    result: (answer, a) => {
      const other = belongsTo(answer.config)
      if (other && other !== family)
        throw ApiError.invalid(
          `Cluster ${a.id} is not a ${family.called} cluster: use ${other.get} for it.`,
        )
      return answer
    },
  })

/** Whose settings these are: the family that knows the most of the names. */
const belongsTo = (config: Settings): Family | undefined => {
  const names = Object.keys(config)
  const known = (family: Family) =>
    names.filter((name) => family.kinds.some((kind) => name in configFields[kind].shape)).length
  const best = families.toSorted((a, b) => known(b) - known(a))[0]
  return best && known(best) > 0 ? best : undefined
}

const updateTool = (family: Family): Tool =>
  script({
    title: `Update ${family.called} settings`,
    about: `Change ${family.called} settings of a cluster; what is left out stays.`,
    args: { id, config: settings(namesOf(family), shapeOf(family), usual[family.kinds[0]]) },
    effect: 'change',
    uses: [databaseConfig.update],
    run: async (a, { api }) => {
      if (Object.keys(a.config).length === 0)
        throw ApiError.invalid('config must name at least one setting.')
      await api(databaseConfig.update, { path: { id: a.id }, body: { config: a.config } })
      return { status: 'updated', id: a.id, config: a.config }
    },
  })

const shapeOf = (family: Family): z.ZodRawShape => configFields[family.kinds[0]].shape

/** Only the usual ones are published; the tool that reads them shows the names of all. */
const usual: Partial<Record<Kind, readonly string[]>> = usualSettings
const namesOf = ({ get }: Family) => `By the names that ${get} shows`

const { valkey_active_expire_effort, frequent_snapshots } = configFields.valkey.shape
const valkeyOnly = { valkey_active_expire_effort, frequent_snapshots }

/** A setting may be given under either name. */
const inOldNames = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      const old = name.replace(/^valkey_/, 'redis_')
      return [old in configFields.redis.shape ? old : name, part]
    }),
  )
}

/** The settings of a Valkey cluster have other names on the wire: those it answers with. */
const updateRedis: Tool = script({
  title: 'Update Redis or Valkey settings',
  about: 'Change Redis or Valkey settings of a cluster; what is left out stays.',
  args: {
    id,
    config: z.preprocess(
      inOldNames,
      settings(
        'By name',
        { ...configFields.redis.shape, ...valkeyOnly },
        Object.keys(configFields.redis.shape) as (keyof typeof configFields.redis.shape)[],
      ),
    ),
  },
  effect: 'change',
  uses: [databaseConfig.update, databaseConfig.get],
  run: async (a, { api }) => {
    const path = { id: a.id }
    if (Object.keys(a.config).length === 0)
      throw ApiError.invalid('config must name at least one setting.')
    const now = (await api(databaseConfig.get, { path })).config
    const valkey = Object.keys(now).some((name) => name.startsWith('valkey_'))
    const config = Object.fromEntries(
      Object.entries(a.config).map(([name, value]) => [
        valkey ? name.replace(/^redis_/, 'valkey_') : name,
        value,
      ]),
    )
    await api(databaseConfig.update, { path, body: { config } })
    return { status: 'updated', id: a.id, config }
  },
})

const MysqlSettings = configFields.mysql.partial()

const updateMysql: Tool = call(databaseConfig.update, {
  title: 'Update MySQL settings',
  about: 'Change MySQL settings of a cluster; what is left out stays.',
  args: {
    id,
    config_json: jsonText('JSON object, such as {"connect_timeout": 10}'),
  },
  spellings,
  request: (a) => ({ path: { id: a.id }, body: { config: mysqlSettings(a.config_json) } }),
})

const mysqlSettings = (json: string): Settings => {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw ApiError.invalid(`config_json is not JSON: ${(error as Error).message}.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw ApiError.invalid(
      'config_json must be a JSON object, for example {"connect_timeout": 10}.',
    )
  if (Object.keys(value).length === 0)
    throw ApiError.invalid('config_json must name at least one setting.')
  const strays = Object.keys(value).filter((name) => !(name in MysqlSettings.shape))
  if (strays.length > 0)
    throw ApiError.invalid(
      `config_json has no field ${strays.map((name) => `"${name}"`).join(', ')}; its fields: ${Object.keys(MysqlSettings.shape).join(', ')}.`,
    )
  const parsed = MysqlSettings.safeParse(value)
  if (!parsed.success) throw ApiError.invalid(`${issuesOf(parsed.error, 'config_json')}.`)
  return parsed.data
}

const updates: Partial<Record<Family['update'], Tool>> = {
  'db-cluster-update-mysql-config': updateMysql,
  'db-cluster-update-redis-config': updateRedis,
}

export const configTools: Record<string, Tool> = {
  ...Object.fromEntries(
    families.flatMap((family) => [
      [family.get, getTool(family)],
      [family.update, updates[family.update] ?? updateTool(family)],
    ]),
  ),

  'db-cluster-get-sql-mode': call(databaseConfig.getSqlMode, {
    title: 'Get SQL mode',
    about: 'Get the SQL modes of a MySQL cluster.',
    args: { id },
    spellings,
    request: (a) => ({ path: { id: a.id } }),
  }),

  'db-cluster-set-sql-mode': call(databaseConfig.setSqlMode, {
    title: 'Set SQL mode',
    about: 'Replace the SQL modes of a MySQL cluster.',
    args: { id, modes: commaList('Comma-separated, such as ANSI,TRADITIONAL') },
    spellings,
    request: (a) => ({ path: { id: a.id }, body: { sql_mode: modesOf(a.modes) } }),
  }),
}

const modesOf = (modes: readonly string[]): string => {
  const list = modes.map((mode) => mode.toUpperCase())
  const wrong = list.filter((mode) => !/^[A-Z0-9_]+$/.test(mode))
  if (wrong.length > 0)
    throw ApiError.invalid(`modes must be SQL modes such as ANSI; "${wrong[0]}" is none.`)
  return list.join(',')
}
