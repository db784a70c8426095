import { readdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Release } from '../local/engine.ts'
import { findProgram, isProgram } from '../local/find.ts'
import { run } from '../local/run.ts'

const debian = '/usr/lib/postgresql'

/** PostgreSQL as Debian installs it, as `cove engines install` puts it, or on PATH; oldest first. */
export const findPostgres = async (installed: string): Promise<Release[]> => {
  const onPath = await findProgram('postgres')
  const folders = [
    ...(await readdir(debian).catch(() => [])).map((version) => join(debian, version, 'bin')),
    ...(await readdir(installed).catch(() => []))
      .filter((name) => name.startsWith('pg-'))
      .map((name) => join(installed, name, 'bin')),
    ...(onPath ? [dirname(await realpath(onPath))] : []),
  ]
  const found = await Promise.all(folders.map(inspect))
  const byVersion = new Map<string, Release>()
  for (const release of found)
    if (release && !byVersion.has(release.version)) byVersion.set(release.version, release)
  return [...byVersion.values()].sort((a, b) => Number(a.version) - Number(b.version))
}

const inspect = async (bin: string): Promise<Release | undefined> => {
  if (!(await isProgram(join(bin, 'postgres'))) || !(await isProgram(join(bin, 'initdb'))))
    return undefined
  const said = await run({ argv: [join(bin, 'postgres'), '--version'] })
  const semantic = /\d+(\.\d+)+/.exec(said)?.[0]
  const version = semantic?.split('.')[0]
  return semantic && version
    ? { version, semantic, product: `PostgreSQL ${semantic}`, bin }
    : undefined
}
