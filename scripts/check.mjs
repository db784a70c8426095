// Everything that must hold: types, lint, no dead code, and the tests.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const steps = [
  ['types', 'tsc'],
  ['types of the console', 'tsc', '-p', 'src/console/app'],
  ['lint', 'biome', 'check'],
  ['dead code', 'knip'],
  ['tests', 'vitest', 'run', ...process.argv.slice(2)],
]

for (const [name, command, ...args] of steps) {
  process.stdout.write(`\n— ${name}\n`)
  const { status } = spawnSync(join(root, 'node_modules', '.bin', command), args, {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
