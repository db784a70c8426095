// Runs a benchmark: node scripts/bench.mjs NAME. Without a name it lists them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const names = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''))
const [name, ...rest] = process.argv.slice(2)

if (!names.includes(name)) {
  console.log(`Say which: ${names.join(', ')}`)
  process.exit(name ? 2 : 0)
}

const out = join(root, 'dist', 'bench')
mkdirSync(out, { recursive: true })
await build({
  entryPoints: [join(root, 'bench', `${name}.bench.ts`)],
  outfile: join(out, `${name}.mjs`),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
})
process.exitCode =
  spawnSync(process.execPath, ['--expose-gc', join(out, `${name}.mjs`), ...rest], {
    cwd: root,
    stdio: 'inherit',
  }).status ?? 1
