import { join } from 'node:path'
import { build } from 'esbuild'
import { projectFile } from '#core/built.ts'

/** A program of ours as one file in a folder, that a child process can run by `node` with `env`. */
export const bundle = async (entry: string, folder: string) => {
  const outfile = join(folder, 'program.cjs')
  await build({
    entryPoints: [projectFile(entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['libsql', 'pg'],
    logLevel: 'warning',
  })
  return { file: outfile, env: { ...process.env, NODE_PATH: projectFile('node_modules') } }
}
