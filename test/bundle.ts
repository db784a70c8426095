import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = new URL('..', import.meta.url).pathname

/** A program of ours as one file that a child process can run, by `node` with `env`. */
export const bundle = async (entry: string) => {
  const outfile = join(mkdtempSync(join(tmpdir(), 'cove-bundle-')), 'program.cjs')
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['libsql', 'pg'],
    logLevel: 'warning',
  })
  return { file: outfile, env: { ...process.env, NODE_PATH: join(root, 'node_modules') } }
}
