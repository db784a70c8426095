import { join } from 'node:path'
import { type DatabaseEngineOptions, databaseEngines } from '#engines/databases.ts'
import type { Service } from '#platform/service.ts'
import { clusterService } from './databases/clusters/platform.ts'
import { databaseConfigService } from './databases/config/platform.ts'
import { databaseFirewallService } from './databases/firewall/platform.ts'
import { migrationService } from './databases/migrations/platform.ts'
import { topicService } from './databases/topics/platform.ts'
import { databaseUserService } from './databases/users/platform.ts'

export interface DatabaseOptions {
  home: string
  /** What a test may want otherwise: a shared folder of templates, another gate. */
  databases?: Partial<Pick<DatabaseEngineOptions, 'templates' | 'gate' | 'installed'>>
}

/** Managed databases, over the engines of this machine. */
export const databaseService =
  ({ home, databases }: DatabaseOptions): Service =>
  (on, kernel) => {
    const engines = databaseEngines({
      home: join(home, 'databases'),
      installed: join(home, 'engines'),
      log: kernel.log.info,
      ...databases,
    })
    for (const service of [
      clusterService,
      databaseFirewallService,
      databaseUserService,
      databaseConfigService,
      topicService,
      migrationService,
    ])
      service(engines)(on, kernel)
  }
