import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { sourceFiles } from './files.ts'

/** A room of the house: files by path, and the rooms (or packages) they may import from. */
interface Room {
  files: RegExp
  may: RegExp[]
}

const core = /^src\/core\//
const client = /^src\/client\//
const mcp = /^src\/mcp\//
const platform = /^src\/platform\//
const engines = /^src\/engines\//
const knowledge = /^src\/knowledge\//
const inference = /^src\/inference\//
const version = /^src\/version\.ts$/
const main = /^src\/main\.ts$/
const cli = /^src\/cli\//
/** Contracts, and the pure data and functions kept beside them. */
const contract = /^src\/services\/.+\/(?!tools|platform)[\w-]+\.ts$/
const everything = /^src\//
const packages = /^[^#.]/

/** The first room that a file is in holds. Nothing imports upwards. */
const rooms: Room[] = [
  { files: core, may: [core, /^(zod|node:(path|url))$/] },
  { files: client, may: [client, core, packages] },
  { files: mcp, may: [mcp, core, client, packages] },
  { files: platform, may: [platform, core, packages] },
  { files: engines, may: [engines, core, packages] },
  { files: /^src\/services\/.+\/contract\.ts$/, may: [core, contract, /^zod$/] },
  // A toolbox: the tools of an area's slices together.
  { files: /^src\/services\/[\w-]+\/tools\.ts$/, may: [core, mcp, /\/tools(-[\w-]+)?\.ts$/] },
  {
    files: /^src\/services\/.+\/tools(-[\w-]+)?\.ts$/,
    may: [mcp, core, client, contract, packages],
  },
  {
    files: /^src\/services\/.+\/platform\.ts$/,
    may: [platform, core, contract, engines, knowledge, inference, packages],
  },
  { files: /^src\/services\/[\w-]+\.ts$/, may: [everything, packages] },
  {
    files: /^src\/services\//,
    may: [platform, core, mcp, client, contract, engines, knowledge, inference, packages],
  },
  { files: knowledge, may: [knowledge, core, platform, contract, mcp, packages] },
  { files: inference, may: [inference, core, platform, contract, packages] },
  { files: /^src\/console\//, may: [/^src\/console\//, client, core, contract, packages] },
  { files: cli, may: [everything, packages] },
  { files: main, may: [everything, packages] },
  { files: version, may: [/package\.json$/] },
]

const importsOf = (path: string, text: string): string[] =>
  [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, target = '']) => {
    if (target.startsWith('#')) return `src/${target.slice(1)}`
    return target.startsWith('.') ? join(dirname(path), target) : target
  })

test('every file imports only what its room may', () => {
  const faults: string[] = []
  for (const { path, text } of sourceFiles('src')) {
    if (path.endsWith('.test.ts') || path.endsWith('.suite.ts')) continue
    const room = rooms.find(({ files }) => files.test(path))
    if (!room) faults.push(`${path} is in no room`)
    for (const target of room ? importsOf(path, text) : []) {
      const inside = target.startsWith('src/') || target === 'package.json'
      const allowed = room?.may.some(
        (rule) => (inside ? rule !== packages : true) && rule.test(target),
      )
      if (!allowed) faults.push(`${path} must not import ${target}`)
    }
  }
  expect(faults).toEqual([])
})

test('what an assistant spawns loads no platform, engine, schema library or tool before the list is answered', () => {
  const seen = new Set<string>()
  const visit = (path: string) => {
    if (seen.has(path) || !path.endsWith('.ts')) return
    seen.add(path)
    const text = files.get(path) ?? ''
    const imports = [
      ...text.matchAll(
        /^(?:import|export) (?!type )(?:(?!from).)*?from '([^']+)'|^} from '([^']+)'/gms,
      ),
    ]
    for (const [, a, b] of imports) {
      const target = a ?? b ?? ''
      if (target.startsWith('#')) visit(`src/${target.slice(1)}`)
      else if (target.startsWith('.')) visit(join(dirname(path), target))
      else seen.add(target)
    }
  }
  const files = new Map(sourceFiles('src').map(({ path, text }) => [path, text]))
  visit('src/cli/mcp-entry.ts')
  const heavy = [...seen].filter((path) =>
    /^(src\/(platform|services|engines|knowledge)|zod|hono|pg|libsql)/.test(path),
  )
  expect(heavy).toEqual([])
})
