import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Node } from '../local/engine.ts'
import { privateFolder, writeWhole } from '../local/files.ts'
import { findProgram, isProgram } from '../local/find.ts'
import { run } from '../local/run.ts'
import { root } from './client.ts'
import { initdb } from './data.ts'

/** By pg_upgrade where the new version brings it, otherwise by dump and restore. The old data stays. */
export const upgrade = async (from: Node, to: Node, into: string): Promise<void> => {
  await initdb(to, into)
  const trusted = 'local all all trust\n'
  await writeWhole(join(into, 'pg_hba.conf'), trusted, to.as)
  const work = join(to.dir, 'upgrade')
  await privateFolder(work, to.as)
  const tool = join(to.release.bin, 'pg_upgrade')
  await ((await isProgram(tool)) ? byUpgrade : byDump)({ from, to, into, work })
  await rm(work, { recursive: true })
}

interface Upgrade {
  from: Node
  to: Node
  into: string
  work: string
}

const byUpgrade = async ({ from, to, into, work }: Upgrade) => {
  await run({
    argv: [
      join(to.release.bin, 'pg_upgrade'),
      ...['-b', from.release.bin, '-B', to.release.bin, '-d', from.data, '-D', into],
      ...['-U', root, '-s', work, '-p', '25050', '-P', '25051'],
    ],
    cwd: work,
    as: to.as,
    env: { PGPASSWORD: from.cluster.rootPassword, HOME: work },
  })
}

const byDump = async ({ from, to, into, work }: Upgrade) => {
  const psql = (await findProgram('psql')) ?? join(from.release.bin, 'psql')
  const serve = (node: Node, data: string, port: number, act: 'start' | 'stop') =>
    run({
      argv: [
        join(node.release.bin, 'pg_ctl'),
        ...['-D', data, '-w', '-m', 'fast', '-l', join(work, `${port}.log`)],
        ...['-o', `-k ${work} -p ${port} -c listen_addresses= -c ssl=off`, act],
      ],
      as: to.as,
      cwd: work,
    })
  await serve(from, from.data, 25050, 'start')
  try {
    await serve(to, into, 25051, 'start')
    try {
      await run({
        argv: [
          'bash',
          '-o',
          'pipefail',
          '-c',
          `"$1" -h "$3" -p 25050 -U ${root} --quote-all-identifiers | grep -v '^CREATE ROLE "${root}";$' |
           "$2" -X -q -v ON_ERROR_STOP=1 -h "$3" -p 25051 -U ${root} -d postgres -o /dev/null`,
          'bash',
          join(from.release.bin, 'pg_dumpall'),
          psql,
          work,
        ],
        as: to.as,
        cwd: work,
        env: { PGPASSWORD: from.cluster.rootPassword },
      })
    } finally {
      await serve(to, into, 25051, 'stop')
    }
  } finally {
    await serve(from, from.data, 25050, 'stop')
  }
}
