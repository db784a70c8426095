import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a manifest asks for, by its file. A build script takes the place of all of them. */
const manifests: Record<string, { kinds: string; commands: string[] }> = {
  'package.json': {
    kinds: 'nodejs',
    commands: ['npm install --omit=dev --no-audit --no-fund --loglevel=error'],
  },
  'requirements.txt': {
    kinds: 'python',
    commands: [
      'python3 -m pip install --quiet --disable-pip-version-check --break-system-packages' +
        ' --target virtualenv/lib/python$(python3 -c "import sys; print(\'%d.%d\' % sys.version_info[:2])")/site-packages' +
        ' -r requirements.txt',
    ],
  },
  'go.mod': { kinds: 'go', commands: ['go mod vendor'] },
  'composer.json': {
    kinds: 'php',
    commands: ['composer install --no-dev --no-interaction --quiet'],
  },
}

/** The shell commands that build a function's folder; none where there is nothing to build. */
export const buildSteps = async (dir: string, kind: string): Promise<string[]> => {
  if (existsSync(join(dir, 'build.sh'))) return ['sh ./build.sh']
  for (const [file, { kinds, commands }] of Object.entries(manifests))
    if (kind.startsWith(kinds) && existsSync(join(dir, file)) && (await asks(join(dir, file))))
      return commands
  return []
}

/** A package.json without dependencies only names the entry. */
const asks = async (file: string): Promise<boolean> => {
  if (!file.endsWith('package.json')) return true
  const { dependencies = {} } = JSON.parse(await readFile(file, 'utf8'))
  return Object.keys(dependencies).length > 0
}
