import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { openAuthority } from '../certificates/authority.ts'
import type { EngineDriver } from '../database.ts'
import { localDriver } from './driver.ts'
import type { LocalEngine } from './engine.ts'
import { passage } from './files.ts'
import { openGate } from './gate.ts'
import { findIdentity } from './identity.ts'
import { createSupervisor } from './supervisor.ts'

export interface LocalOptions {
  /** Everything lives under it: `COVE_HOME/databases`. */
  home: string
  /** Where `cove engines install` puts engines. */
  installed: string
  /** Where templates are kept; under `home` unless several homes share them. */
  templates?: string
  gate?: 'kernel' | 'proxy' | 'auto'
  log(message: string): void
}

/** The drivers of engines whose servers run on this machine, sharing one authority, gate and supervisor. */
export const openLocal = async (engines: readonly LocalEngine[], options: LocalOptions) => {
  const { home, log } = options
  await passage(home)
  const supervisor = createSupervisor({ log })
  const authority = await openAuthority(join(home, 'authority'), Date.now)
  const table = `cove_db_${createHash('sha256').update(home).digest('hex').slice(0, 10)}`
  const gate = await openGate(table, options.gate ?? 'auto')
  const templates = options.templates ?? join(home, 'templates')
  await passage(templates)
  const drivers = await Promise.all(
    engines.map(
      async (engine): Promise<EngineDriver> =>
        localDriver(engine, {
          home,
          templates: join(templates, engine.engine),
          authority,
          gate,
          supervisor,
          as: await findIdentity(engine.accounts, [home, templates, options.installed]),
          log,
        }),
    ),
  )
  return {
    drivers,
    gate: gate.kind,
    ca: authority.ca,
    /** Ends every server. Only those of a Cove that was killed go on, for the next start to adopt. */
    close: async () => {
      await supervisor.close()
      await gate.close()
    },
  }
}
