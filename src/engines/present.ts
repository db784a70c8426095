import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const has = (program: string): boolean =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false // Not in this folder.
    }
  })

/** What a look at the disk tells of the engines, without starting any of them: for `cove doctor`. */
export const glance = (installed: string) => {
  const fetched = existsSync(installed) ? readdirSync(installed) : []
  const found = (prefix: string) => fetched.some((name) => name.startsWith(prefix))
  const there: Record<string, boolean> = {
    pg: existsSync('/usr/lib/postgresql') || has('postgres') || found('pg-'),
    mysql: has('mysqld') || has('mariadbd'),
    valkey: has('valkey-server') || has('redis-server'),
    kafka: Boolean(process.env.KAFKA_HOME) || found('kafka-'),
    mongodb: found('ferretdb-'),
    opensearch: Boolean(process.env.OPENSEARCH_HOME) || found('opensearch-'),
  }
  return {
    missing: Object.keys(there).filter((engine) => !there[engine]),
    gate: process.getuid?.() === 0 && has('nft') ? ('kernel' as const) : ('proxy' as const),
  }
}
