import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineDriver } from './database.ts'
import { glance } from './present.ts'

export interface DatabaseEngineOptions {
  /** Everything lives under it: `COVE_HOME/databases`. */
  home: string
  /** Where `cove engines install` puts engines: `COVE_HOME/engines`. */
  installed: string
  /** Where pre-initialised data is kept; under `home` unless several homes share it. */
  templates?: string | undefined
  gate?: 'kernel' | 'proxy' | 'auto' | undefined
  log(message: string): void
}

/** Every database engine, opened when first asked for: a Cove without databases pays nothing. */
export const databaseEngines = (options: DatabaseEngineOptions) => {
  let opening: ReturnType<typeof open> | undefined
  let gate: 'kernel' | 'proxy' | undefined
  const opened = () => {
    opening ??= open(options)
    return opening
  }
  return {
    drivers: async (): Promise<readonly EngineDriver[]> => {
      const world = await opened()
      gate = world.gate
      return world.drivers
    },
    /** Whether clusters may be there from before. */
    used: () => existsSync(options.home),
    /** What `cove doctor` tells; looked up, not started. */
    glance: () => {
      const seen = glance(options.installed)
      return { ...seen, gate: gate ?? (options.gate === 'proxy' ? 'proxy' : seen.gate) }
    },
    close: async () => {
      if (opening) await (await opening).close()
    },
  }
}

const open = async ({ home, installed, templates, gate, log }: DatabaseEngineOptions) => {
  const [local, postgres, mysql, valkey, kafka, mongodb, opensearch] = await Promise.all([
    import('./local/world.ts'),
    import('./postgres/engine.ts'),
    import('./mysql/engine.ts'),
    import('./valkey/engine.ts'),
    import('./kafka/engine.ts'),
    import('./mongodb/engine.ts'),
    import('./opensearch/engine.ts'),
  ])
  const engines = [
    postgres.postgresEngine(installed),
    mysql.mysqlEngine(),
    valkey.valkeyEngine(),
    kafka.kafkaEngine(installed),
    mongodb.mongodbEngine(installed),
    opensearch.opensearchEngine(installed),
  ]
  return local.openLocal(engines, {
    home,
    installed,
    templates: templates ?? join(home, 'templates'),
    gate: gate ?? 'auto',
    log,
  })
}
