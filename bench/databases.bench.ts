import { execFile, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod, chown, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'iovalkey'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import type { ClusterSpec, ClusterState, Engine, EngineDriver } from '#engines/database.ts'
import { databaseEngines } from '#engines/databases.ts'

const folder = mkdtempSync(join(tmpdir(), 'cove-bench-'))
await chmod(folder, 0o755)

const open = async (gate: 'kernel' | 'proxy' | 'auto') => {
  const home = join(folder, gate)
  const engines = databaseEngines({ home, installed: join(folder, 'none'), gate, log: () => {} })
  const drivers = await engines.drivers()
  const driver = (engine: Engine) => drivers.find((one) => one.engine === engine) as EngineDriver
  return { engines, driver }
}

const password = 'bench'
const specOf = async (driver: EngineDriver): Promise<ClusterSpec> => ({
  id: randomUUID(),
  version: (await driver.versions()).at(-1)?.version ?? '',
  nodes: 1,
  memoryMib: 1024,
  storageMib: 10_240,
  admin: { name: driver.engine === 'valkey' ? 'default' : 'doadmin', password },
  database: driver.engine === 'valkey' ? '' : 'defaultdb',
})

/** First authenticated query over TLS, tried again until it is answered. */
const query: Partial<
  Record<Engine, (to: { host: string; port: number }, ca: string) => Promise<void>>
> = {
  pg: async (to, ca) => {
    const client = new pg.Client({
      ...to,
      user: 'doadmin',
      password,
      database: 'defaultdb',
      ssl: { ca },
    })
    await client.connect()
    await client.query('SELECT 1')
    await client.end()
  },
  mysql: async (to, ca) => {
    const client = await createConnection({ ...to, user: 'doadmin', password, ssl: { ca } })
    await client.query('SELECT 1')
    client.destroy()
  },
  valkey: async (to, ca) => {
    const client = new Redis({
      ...to,
      username: 'default',
      password,
      tls: { ca },
      lazyConnect: true,
    })
    await client.connect()
    await client.ping()
    client.disconnect()
  },
}

const seconds = async (work: () => Promise<unknown>) => {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}
const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN
const row = (name: string, value: string, against = '', ratio = '') =>
  console.log(`${name.padEnd(46)}${value.padStart(12)}${against.padStart(14)}${ratio.padStart(9)}`)

const created = async (driver: EngineDriver) => {
  const spec = await specOf(driver)
  const state = await driver.ensure(spec)
  return { spec, state }
}

/** A bare server as its own tools make it, up to its first answer. */
const bare: Partial<Record<Engine, () => Promise<number>>> = {
  pg: () =>
    bareServer('postgres', async (dir, as) => {
      const bin = spawnSync('sh', ['-c', 'ls -d /usr/lib/postgresql/*/bin | tail -1'], {
        encoding: 'utf8',
      }).stdout.trim()
      const data = join(dir, 'data')
      run([join(bin, 'initdb'), '-D', data, '-U', 'postgres', '--auth=trust'], as)
      return {
        argv: [join(bin, 'postgres'), '-D', data, '-k', dir, '-c', 'listen_addresses='],
        answers: async () => {
          const client = new pg.Client({ host: dir, user: 'postgres', database: 'postgres' })
          await client.connect()
          await client.query('SELECT 1')
          await client.end()
        },
      }
    }),
  mysql: () =>
    bareServer('mysql', async (dir, as) => {
      const data = join(dir, 'data')
      run(
        [
          'mariadb-install-db',
          '--no-defaults',
          `--datadir=${data}`,
          '--skip-test-db',
          '--auth-root-authentication-method=normal',
        ],
        as,
      )
      const socketPath = join(dir, 'sock')
      return {
        argv: [
          'mariadbd',
          '--no-defaults',
          `--datadir=${data}`,
          `--socket=${socketPath}`,
          '--skip-networking',
        ],
        answers: async () => {
          const client = await createConnection({ socketPath, user: 'root' })
          await client.query('SELECT 1')
          client.destroy()
        },
      }
    }),
  valkey: () =>
    bareServer('redis', async (dir) => {
      const socket = join(dir, 'sock')
      await writeFile(join(dir, 'conf'), `port 0\nunixsocket ${socket}\ndir ${dir}\n`)
      return {
        argv: ['redis-server', join(dir, 'conf')],
        answers: async () => {
          const client = new Redis({ path: socket, lazyConnect: true, retryStrategy: () => null })
          client.on('error', () => undefined)
          await client.connect()
          await client.ping()
          client.disconnect()
        },
      }
    }),
}

interface As {
  uid?: number
  gid?: number
}
const run = ([program = '', ...args]: string[], as: As) => {
  const { status, stderr } = spawnSync(program, args, { ...as, encoding: 'utf8', cwd: '/' })
  if (status !== 0) throw new Error(`${program}: ${stderr}`)
}

const bareServer = async (
  account: string,
  make: (dir: string, as: As) => Promise<{ argv: string[]; answers(): Promise<void> }>,
): Promise<number> => {
  const dir = mkdtempSync(join(folder, 'bare-'))
  const id = (flag: string) => Number(spawnSync('id', [flag, account], { encoding: 'utf8' }).stdout)
  const as = process.getuid?.() === 0 ? { uid: id('-u') || 65534, gid: id('-g') || 65534 } : {}
  if (as.uid !== undefined) await chown(dir, as.uid, as.gid)
  const begun = performance.now()
  const { argv, answers } = await make(dir, as)
  const [program = '', ...args] = argv
  const child = spawn(program, args, { ...as, stdio: 'ignore', cwd: '/' })
  for (;;) {
    const ready = await answers().then(
      () => true,
      () => false,
    )
    if (ready) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const took = (performance.now() - begun) / 1000
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  rmSync(dir, { recursive: true, force: true })
  return took
}

const creation = async () => {
  const { engines, driver } = await open('auto')
  console.log('\nCreate to first authenticated TLS query, from template (median of 5)')
  row('engine', 'Cove', 'bare', 'ratio')
  for (const engine of ['pg', 'mysql', 'valkey'] as const) {
    const one = driver(engine)
    const ca = await one.authority('')
    await one.destroy((await created(one)).spec.id)
    const times: number[] = []
    const bares: number[] = []
    for (let round = 0; round < 5; round++) {
      let id = ''
      times.push(
        await seconds(async () => {
          const { spec, state } = await created(one)
          id = spec.id
          await query[engine]?.(state.primary, ca)
        }),
      )
      await one.destroy(id)
      bares.push((await bare[engine]?.()) ?? Number.NaN)
    }
    const [mine, theirs] = [median(times), median(bares)]
    row(engine, `${mine.toFixed(3)} s`, `${theirs.toFixed(3)} s`, (mine / theirs).toFixed(2))
  }
  const pgDriver = driver('pg')
  global.gc?.()
  const before = process.memoryUsage()
  const begun = performance.now()
  const all = await Promise.allSettled(Array.from({ length: 10 }, () => created(pgDriver)))
  const took = (performance.now() - begun) / 1000
  const failed = all.filter((one) => one.status === 'rejected').length
  row('ten pg clusters at once', `${took.toFixed(2)} s`, `${failed} failed`)
  global.gc?.()
  const after = process.memoryUsage()
  const each = (key: 'rss' | 'heapUsed') =>
    ((after[key] - before[key]) / 10 / 1024 / 1024).toFixed(2)
  row('memory of Cove for a cluster: rss, heap', `${each('rss')} MB`, `${each('heapUsed')} MB`)
  for (const id of await pgDriver.list()) await pgDriver.destroy(id)
  await engines.close()
}

/** Not spawnSync: a proxy of this process must go on meanwhile. */
const said = (program: string, args: string[], env = process.env) =>
  promisify(execFile)(program, args, { env }).then(({ stdout }) => stdout)

const pgbench = async (state: ClusterState, ...options: string[]) => {
  const env = { ...process.env, PGPASSWORD: password, PGSSLMODE: 'require' }
  const to = [
    '-h',
    state.primary.host,
    '-p',
    String(state.primary.port),
    '-U',
    'doadmin',
    'defaultdb',
  ]
  const stdout = await said('pgbench', [...options, ...to], env)
  const found = /tps = ([\d.]+)/.exec(stdout)
  if (!found && !options.includes('-i')) throw new Error(stdout)
  return Number(found?.[1])
}

const redisBench = async (state: ClusterState, ca: string) => {
  const stdout = await said('redis-benchmark', [
    '-h',
    state.primary.host,
    '-p',
    String(state.primary.port),
    '--user',
    'default',
    '-a',
    password,
    '--tls',
    '--cacert',
    ca,
    '-t',
    'get',
    '-n',
    '40000',
    '-c',
    '16',
    '-q',
  ])
  return Number(/([\d.]+) requests per second/.exec(stdout.replaceAll('\r', '\n'))?.[1])
}

/** The same load with the gate open and closed, turn by turn. */
const gateCost = async (kind: 'kernel' | 'proxy') => {
  const { engines, driver } = await open(kind)
  const postgres = await created(driver('pg'))
  const valkey = await created(driver('valkey'))
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, await driver('pg').authority(''))
  await pgbench(postgres.state, '-i', '-q')
  const direct = (state: ClusterState, port: number): ClusterState => ({
    ...state,
    primary: {
      host: state.primary.host.replace(
        /^127\.(\d+)/,
        (_, b) => `127.${Number(b) + (kind === 'proxy' ? 32 : 0)}`,
      ),
      port,
    },
  })
  const loads = {
    'pgbench select-only': (state: ClusterState) =>
      pgbench(state, '-S', '-n', '-c', '4', '-T', '3'),
    'pgbench default': (state: ClusterState) => pgbench(state, '-n', '-c', '4', '-T', '3'),
    'redis-benchmark get': (state: ClusterState) => redisBench(state, ca),
  }
  const guarded = async (on: boolean) => {
    for (const { spec } of [postgres, valkey])
      for (const one of [driver('pg'), driver('valkey')])
        if ((await one.list()).includes(spec.id))
          await one.admit(spec.id, async () => (on ? ['127.0.0.1', '10.0.0.0/8'] : 'anyone'))
  }
  for (const [name, load] of Object.entries(loads)) {
    const { state } = name.startsWith('pg') ? postgres : valkey
    const without: number[] = []
    const through: number[] = []
    for (let round = 0; round < 3; round++) {
      await guarded(false)
      without.push(await load(direct(state, state.primary.port)))
      await guarded(true)
      through.push(await load(state))
    }
    const [open, closed] = [median(without), median(through)]
    row(
      `${name} through the ${kind} gate`,
      closed.toFixed(0),
      open.toFixed(0),
      (closed / open).toFixed(3),
    )
  }
  for (const one of [driver('pg'), driver('valkey')])
    for (const id of await one.list()) await one.destroy(id)
  await engines.close()
}

/** `node scripts/bench.mjs databases [creation|kernel|proxy]`: all of it without a word. */
const part = process.argv[2]
const wanted = (name: string) => part === undefined || part === name

try {
  if (wanted('creation')) await creation()
  console.log(
    '\nTransactions or requests a second, gate closed but for us, against no gate (median)',
  )
  row('load', 'gate', 'direct', 'ratio')
  if (wanted('kernel') && process.getuid?.() === 0) await gateCost('kernel')
  if (wanted('proxy')) await gateCost('proxy')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
