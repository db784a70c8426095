// Writes the reference pages docs/tools/*.md from the catalogue; a test notices when they drift.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', 'test/tool-pages.test.ts', '--update'],
  { cwd: root, stdio: 'inherit' },
)
process.exitCode = status ?? 1
