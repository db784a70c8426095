// Sets Cove up on a fresh machine: packages of npm and Debian, then the build. Needs nothing but Node
// and npm. The second run finds everything done and says nothing.
//   node scripts/setup.mjs start   what running needs
//   node scripts/setup.mjs test    and what testing needs
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const wanted = process.argv[2] === 'test' ? 'test' : 'start'
const stampPath = join(root, 'node_modules', '.cove-setup.json')

/**
 * Programs that make parts of Cove real. `find` is a command on the PATH or an absolute path; a path
 * may have `*` for a version. `for` says which of the two commands needs it.
 */
const programs = [
  {
    package: 'postgresql',
    find: '/usr/lib/postgresql/*/bin/postgres',
    for: 'start',
    why: 'PostgreSQL clusters',
  },
  { package: 'mariadb-server-core', find: 'mariadbd', for: 'start', why: 'MySQL clusters' },
  { package: 'mariadb-client', find: 'mariadb-dump', for: 'start', why: 'MySQL migrations' },
  { package: 'mariadb-backup', find: 'mariadb-backup', for: 'start', why: 'MySQL backups' },
  { package: 'redis-server', find: 'redis-server', for: 'start', why: 'Valkey clusters' },
  { package: 'nftables', find: 'nft', for: 'start', why: 'the database firewall in the kernel' },
  { package: 'haproxy', find: 'haproxy', for: 'start', why: 'load balancers' },
  { package: 'iputils-ping', find: 'ping', for: 'test', why: 'asking whether a host is reached' },
  { package: 'chromium', find: 'chromium', for: 'test', why: 'opening the pages in a browser' },
  { package: 'bind9-dnsutils', find: 'dig', for: 'test', why: 'asking our name server' },
  { package: 'bubblewrap', find: 'bwrap', for: 'start', why: 'isolated functions' },
  { package: 'util-linux', find: 'setpriv', for: 'start', why: 'isolated functions' },
  { package: 'iproute2', find: 'ip', for: 'start', why: 'networks of functions and instances' },
  { package: 'nftables', find: 'nft', for: 'start', why: 'their isolation and firewalls' },
  { package: 'python3', find: '/usr/bin/python3', for: 'start', why: 'functions in Python' },
  { package: 'php-cli', find: 'php', for: 'start', why: 'functions in PHP' },
  { package: 'golang-go', find: 'go', for: 'start', why: 'functions in Go' },
  {
    package: 'python3-pip',
    find: '/usr/lib/python3/dist-packages/pip',
    for: 'start',
    why: 'building Python functions',
  },
  { package: 'pebble', find: 'pebble', for: 'test', why: 'an ACME server to try' },
  { package: 'curl', find: 'curl', for: 'test', why: 'asking load balancers' },
  { package: 'openssl', find: 'openssl', for: 'test', why: 'making certificates' },
]

const say = (text) => process.stderr.write(`cove set-up: ${text}\n`)

const main = () => {
  checkNode()
  const stamp = readStamp()
  installPackages(stamp)
  installPrograms()
  buildSources(stamp)
}

const checkNode = () => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 12)) return
  fail(`Node ${process.versions.node} is too old; Cove needs 20.12 or later.`)
}

const installPackages = (stamp) => {
  const lock = hashOf(['package.json', 'package-lock.json'])
  // A test set-up has everything that a start needs.
  if (stamp.lock === lock && (stamp.for === 'test' || wanted === 'start')) return
  say(`installing npm packages (${wanted === 'test' ? 'all' : 'those that running needs'}) …`)
  const scope = wanted === 'test' ? [] : ['--omit=dev']
  const flags = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...scope]
  run('npm', ['install', ...flags], 'npm could not install the packages')
  writeStamp({ ...readStamp(), lock, for: wanted })
}

const installPrograms = () => {
  const missing = programs.filter(
    (p) => (p.for === 'start' || wanted === 'test') && !isPresent(p.find),
  )
  if (missing.length === 0) return
  const names = [...new Set(missing.map((p) => p.package))]
  const command = `apt-get install -y --no-install-recommends ${names.join(' ')}`
  if (process.env.COVE_SKIP_APT || process.getuid?.() !== 0 || !isPresent('apt-get')) {
    say(`these are missing: ${missing.map((p) => `${p.package} (${p.why})`).join(', ')}.`)
    say(`everything else works without them; to have them, run: sudo ${command}`)
    return
  }
  say(`installing Debian packages: ${names.join(', ')} …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ...withoutServices() }
  const install = () => spawnSync('sh', ['-c', command], { env, encoding: 'utf8' })
  let result = install()
  if (result.status !== 0) {
    spawnSync('apt-get', ['update'], { env })
    result = install()
  }
  if (result.status !== 0)
    say(`Debian's packages could not be installed: ${lastLine(result.stderr)}`)
}

/** Cove starts its own servers; the packages must not start theirs. */
const withoutServices = () => {
  const config = '/etc/postgresql-common/createcluster.conf'
  if (!existsSync(config)) {
    mkdirSync(dirname(config), { recursive: true })
    writeFileSync(config, 'create_main_cluster = false\n')
  }
  return { RUNLEVEL: '1' }
}

const buildSources = (stamp) => {
  const sources = hashOf(['package-lock.json', 'scripts/build.mjs', ...filesBelow('src')])
  if (stamp.sources === sources && existsSync(join(root, 'dist', 'catalogue.json'))) return
  say('building …')
  run(process.execPath, [join(root, 'scripts', 'build.mjs')], 'the build failed')
  writeStamp({ ...readStamp(), sources })
}

const isPresent = (find) => {
  if (find.includes('*')) {
    const [before, after] = find.split('*')
    return (
      existsSync(before) && readdirSync(before).some((part) => existsSync(before + part + after))
    )
  }
  if (find.startsWith('/')) return existsSync(find)
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return folders.some((folder) => isExecutable(join(folder, find)))
}

const isExecutable = (path) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const filesBelow = (folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort()

const hashOf = (paths) => {
  const hash = createHash('sha256').update(process.versions.modules)
  for (const path of paths) hash.update(path).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}

const readStamp = () => {
  try {
    return JSON.parse(readFileSync(stampPath, 'utf8'))
  } catch {
    return {} // The first run.
  }
}

const writeStamp = (stamp) => writeFileSync(stampPath, JSON.stringify(stamp))

const run = (command, args, fault) => {
  const { status, stderr } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (status === 0) return
  process.stderr.write(stderr ?? '')
  fail(`${fault}.`)
}

const lastLine = (text) => text.trim().split('\n').at(-1)

const fail = (text) => {
  say(text)
  process.exit(1)
}

main()
