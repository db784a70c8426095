import { dirname } from 'node:path'
import type { Release } from '../local/engine.ts'
import { findProgram } from '../local/find.ts'
import { run } from '../local/run.ts'

/** MySQL where it is installed, otherwise MariaDB, named as what it is. */
export const findMysql = async (): Promise<Release[]> => {
  for (const program of ['mysqld', 'mariadbd']) {
    const path = await findProgram(program)
    if (!path) continue
    const said = await run({ argv: [path, '--no-defaults', '--version'] })
    const semantic = /Ver (\d+(\.\d+)+)/.exec(said)?.[1]
    if (!semantic) continue
    const version = semantic.split('.').slice(0, 2).join('.')
    const name = said.includes('MariaDB') ? 'MariaDB' : 'MySQL'
    return [{ version, semantic, product: `${name} ${semantic}`, bin: path }]
  }
  return []
}

export const isMariadb = (release: Release) => release.product.startsWith('MariaDB')

/** A tool of either name, beside the server or on PATH. */
export const tool = async (release: Release, ...names: string[]): Promise<string> => {
  for (const name of names) {
    const path = await findProgram(name)
    if (path) return path
  }
  throw new Error(`${names.join(' or ')} was not found beside ${dirname(release.bin)}.`)
}
