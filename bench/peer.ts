import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Peers are fetched for a benchmark and are no dependencies of Cove. */
const cache = process.env.COVE_BENCH_CACHE ?? join(homedir(), '.cache', 'cove-bench')

/** Installs packages into the cache once; answers the folder that holds them. */
export const installPeer = (...packages: string[]): string => {
  const folder = join(cache, packages.join('+').replaceAll('/', '_'))
  if (!existsSync(join(folder, 'node_modules'))) {
    mkdirSync(folder, { recursive: true })
    const { status } = spawnSync(
      'npm',
      ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages],
      {
        stdio: 'inherit',
      },
    )
    if (status !== 0) throw new Error(`${packages.join(', ')} could not be installed.`)
  }
  return join(folder, 'node_modules')
}

/** The official tool server: its launcher, as people start it, and the program behind it. */
export const peerServer = () => {
  const modules = installPeer('@digitalocean/mcp@1.0.70')
  const home = join(modules, '@digitalocean', 'mcp')
  const binary = readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map((path) => join(home, path))
    .find((path) => path.includes(`linux-${process.arch === 'x64' ? 'amd64' : process.arch}`))
  return { launcher: join(home, 'index.js'), binary }
}

export const peerServices =
  'accounts,databases,functions,networking,genai-inferencerouter,genai-evaluation'
