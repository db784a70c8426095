import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** A real PostgreSQL in a folder of its own, reached over a socket in it. */
export interface TestPostgres {
  /** An empty database, by its address. */
  createDatabase(name: string): Promise<string>
  /** Stopped and started again: every connection is lost. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export const startPostgres = async (): Promise<TestPostgres> => {
  const home = mkdtempSync(join(tmpdir(), 'cove-pg-'))
  const user = serverUser()
  if (user) chownSync(home, user.uid, user.gid)
  const data = join(home, 'data')
  const options = { ...user, cwd: home }
  execFileSync(
    join(binaries(), 'initdb'),
    ['-D', data, '-U', 'cove', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...options, stdio: 'pipe' },
  )
  const settings = ['listen_addresses=', 'fsync=off', 'max_connections=100']
  const start = async () => {
    const child = spawn(
      join(binaries(), 'postgres'),
      ['-D', data, '-k', home, ...settings.flatMap((setting) => ['-c', setting])],
      { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    await listening(child)
    return child
  }
  const end = async () => {
    const gone = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGINT')
    await gone
  }
  let server = await start()
  const address = (name: string) => `postgres://cove@/${name}?host=${home}`
  return {
    async createDatabase(name) {
      const client = new pg.Client(address('postgres'))
      await client.connect()
      await client.query(`CREATE DATABASE "${name}"`)
      await client.end()
      return address(name)
    },
    async restart() {
      await end()
      server = await start()
    },
    async stop() {
      await end()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const listening = (server: ChildProcess) =>
  new Promise<void>((resolve, reject) => {
    let said = ''
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${said}`)))
    server.stderr?.on('data', (chunk) => {
      said += chunk
      if (said.includes('ready to accept connections')) resolve()
    })
  })

/** Debian keeps the server's programs out of the path, a folder a version. */
const binaries = (): string => {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).map(Number) : []
  const newest = versions
    .sort((a, b) => b - a)
    .find((v) => existsSync(join(root, `${v}/bin/postgres`)))
  if (newest === undefined)
    throw new Error('The tests need a PostgreSQL server: apt-get install postgresql')
  return join(root, String(newest), 'bin')
}

/** PostgreSQL refuses to run as root. */
const serverUser = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
