import type { Engine } from '#engines/database.ts'

/** How the engines show themselves in the API, by slug. */
export interface Traits {
  driver: Engine
  /** The default account and database; an empty database where the engine has none. */
  admin: string
  database: string
  /** Most nodes of a cluster. */
  nodes: readonly number[]
  uri(to: { user: string; password: string; host: string; port: number; database: string }): string
}

const sql =
  (scheme: string, query: string): Traits['uri'] =>
  (to) =>
    `${scheme}://${to.user}:${encodeURIComponent(to.password)}@${to.host}:${to.port}/${to.database}?${query}`

const keyValue: Traits = {
  driver: 'valkey',
  admin: 'default',
  database: '',
  nodes: [1, 2, 3],
  uri: (to) => `rediss://${to.user}:${encodeURIComponent(to.password)}@${to.host}:${to.port}`,
}

export const traits = {
  pg: {
    driver: 'pg',
    admin: 'doadmin',
    database: 'defaultdb',
    nodes: [1, 2, 3],
    uri: sql('postgresql', 'sslmode=require'),
  },
  mysql: {
    driver: 'mysql',
    admin: 'doadmin',
    database: 'defaultdb',
    nodes: [1, 2, 3],
    uri: sql('mysql', 'ssl-mode=REQUIRED'),
  },
  valkey: keyValue,
  redis: keyValue,
  kafka: {
    driver: 'kafka',
    admin: 'doadmin',
    database: '',
    nodes: [1, 3],
    uri: (to) => `${to.host}:${to.port}`,
  },
  opensearch: {
    driver: 'opensearch',
    admin: 'doadmin',
    database: '',
    nodes: [1],
    uri: (to) => `https://${to.user}:${encodeURIComponent(to.password)}@${to.host}:${to.port}`,
  },
  mongodb: {
    driver: 'mongodb',
    admin: 'doadmin',
    database: 'admin',
    nodes: [1],
    uri: sql('mongodb', 'tls=true&authMechanism=PLAIN'),
  },
} as const satisfies Record<string, Traits>

export type Slug = keyof typeof traits

export const slugs = Object.keys(traits) as Slug[]
