import { join } from 'node:path'
import { databaseEngines } from '#engines/databases.ts'
import { installEngine, recipes } from '#engines/install/install.ts'
import { command } from './command.ts'
import { json, table } from './table.ts'
import { UsageError } from './values.ts'

export const engines = command({
  about: 'List the database engines of this machine, and install more.',
  usage: 'list | install NAME',
  settings: ['json'],
  examples: ['cove engines list', 'cove engines install kafka'],
  run: async ({ values, home, positionals }, { out, err }) => {
    const [verb, name] = positionals
    const installed = join(home, 'engines')
    if (verb === 'list') {
      const open = databaseEngines({ home: join(home, 'databases'), installed, log: () => {} })
      const found = await Promise.all(
        (await open.drivers()).map(async (driver) =>
          (await driver.versions()).map((version) => ({ engine: driver.engine, ...version })),
        ),
      )
      await open.close()
      const rows = found.flat().map(({ engine, version, product, available, reason }) => ({
        engine,
        version,
        product: available ? product : '',
        available,
        reason: reason ?? '',
      }))
      const lines = rows.map((row) => [row.engine, row.version, row.product, row.reason])
      out(values.json ? json(rows) : table(['engine', 'version', 'product', 'missing'], lines))
      return 0
    }
    if (verb === 'install' && name !== undefined) {
      err(`Installing ${recipes[name]?.about ?? name} …\n`)
      const fresh = await installEngine(installed, name)
      out(fresh ? `${name} is installed.\n` : `${name} was installed already.\n`)
      return 0
    }
    throw new UsageError('Say one of: cove engines list, cove engines install NAME.')
  },
})
