import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { zipFolder } from '#engines/sandbox/zip.ts'
import { createCalls } from '#mcp/calls.ts'
import { allTools } from '#services/catalogue.ts'
import { cove, type Running, startCove } from '../../test/process.ts'

let running: Running
let namespace = ''
const folders: string[] = []
let calls: ReturnType<typeof createCalls> | undefined

beforeAll(async () => {
  running = await startCove()
  const made = await tool('functions-create-namespace', { Label: 'project', Region: 'nyc1' })
  namespace = (made.namespace as { namespace: string }).namespace
})
afterAll(async () => {
  await running.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Tools as an assistant calls them, beside what a person does in the shell. */
const tool = async (name: string, args: object): Promise<Record<string, unknown>> => {
  calls ??= createCalls((name) => allTools[name], {
    baseUrl: running.url,
    fetch,
    audit: { write: () => {} },
    confirm: 'never',
    answerLimit: 100_000,
    now: Date.now,
  })
  const signal = new AbortController().signal
  const caller = { token: running.token, who: 'test', signal, progress: () => {} }
  const { isError, content, structuredContent } = await calls(name, args, caller)
  if (isError) throw new Error(content[0]?.text)
  return structuredContent ?? {}
}
const deploy = (dir: string, ...more: string[]) =>
  cove(running.home, ['functions', 'deploy', dir, ...more], { GREETING: 'Hello' })
const result = (ActionName: string, PackageName: string, Payload: object) =>
  tool('functions-invoke-action', {
    NamespaceID: namespace,
    ActionName,
    PackageName,
    Payload,
    Result: true,
  })

const folder = (files: Record<string, string | Buffer>): string => {
  const dir = mkdtempSync(join(tmpdir(), 'cove-project-'))
  folders.push(dir)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), content)
  }
  return dir
}

/** A Python package as pip installs it, without any index. */
const wheel = () =>
  zipFolder(
    folder({
      'shout.py': 'def loud(text):\n    return text.upper()\n',
      'shout-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n',
      'shout-1.0.dist-info/WHEEL':
        'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      'shout-1.0.dist-info/RECORD':
        'shout.py,,\nshout-1.0.dist-info/METADATA,,\nshout-1.0.dist-info/WHEEL,,\nshout-1.0.dist-info/RECORD,,\n',
    }),
  )

const project = async () =>
  folder({
    'project.yml': `
environment: { MODE: test }
packages:
  - name: tools
    parameters: { from: package }
    functions:
      - name: hello
        runtime: nodejs:20
        parameters: { greeting: "\${GREETING}" }
        environment: { SECRET: "\${SECRET}" }
        limits: { timeout: 5000, memory: 128 }
        triggers:
          - name: hourly
            sourceDetails: { cron: "0 * * * *", withBody: { name: cron } }
      - name: shout
`,
    '.env': 'SECRET="s3cret"\n',
    'packages/tools/hello/package.json':
      '{"name": "hello", "main": "index.js", "dependencies": {"left": "file:./left"}}',
    'packages/tools/hello/index.js':
      'const { pad } = require("left"); exports.main = (a) => ({ text: `${a.greeting} ${pad(a.name)}`, from: a.from, env: [process.env.MODE, process.env.SECRET] })',
    'packages/tools/hello/left/package.json':
      '{"name": "left", "version": "1.0.0", "main": "index.js"}',
    'packages/tools/hello/left/index.js': 'exports.pad = (text) => text.padStart(5, ".")',
    'packages/tools/hello/notes.txt': 'private',
    'packages/tools/hello/.ignore': 'notes.txt\n',
    'packages/tools/shout/__main__.py':
      'import shout\ndef main(a):\n    return {"text": shout.loud(a["text"])}\n',
    'packages/tools/shout/requirements.txt': './shout-1.0-py3-none-any.whl\n',
    'packages/tools/shout/shout-1.0-py3-none-any.whl': await wheel(),
    'packages/tools/built/build.sh':
      'echo "<?php function main(array \\$a) { return [\\"built\\" => true]; }" > index.php\n',
    'packages/tools/built/readme.php': '<?php // made by build.sh\n',
    'packages/default/bye.py': 'def main(a):\n    return {"bye": a["name"]}\n',
  })

test.each([
  ['on this machine', []],
  ['by Cove', ['--remote-build']],
])(
  'a project with dependencies, a build script and a schedule is built %s and runs',
  async (_where, more) => {
    const dir = await project()
    const { status, out, err } = await deploy(dir, '--namespace', namespace, ...more)
    expect(out + err).not.toContain('FAILED')
    expect(status).toBe(0)
    expect(out).toContain('function tools/hello: version 0.0.')
    expect(out).toContain('trigger hourly: 0 * * * *')

    expect(await result('hello', 'tools', { name: 'Bo' })).toEqual({
      text: 'Hello ...Bo',
      from: 'package',
      env: ['test', 's3cret'],
    })
    expect(await result('shout', 'tools', { text: 'hi' })).toEqual({ text: 'HI' })
    expect(await result('built', 'tools', {})).toEqual({ built: true })
    const bye = { NamespaceID: namespace, ActionName: 'bye', Payload: { name: 'Al' }, Result: true }
    expect(await tool('functions-invoke-action', bye)).toEqual({ bye: 'Al' })

    const shown = (await tool('functions-get-action', {
      NamespaceID: namespace,
      ActionName: 'hello',
      PackageName: 'tools',
    })) as { limits: object; annotations: object[] }
    expect(shown.limits).toMatchObject({ timeout: 5000, memory: 128, logs: 10 })
    expect(shown.annotations).toContainEqual({ key: 'web-export', value: true })
    const { trigger } = await tool('functions-get-trigger', {
      NamespaceID: namespace,
      TriggerName: 'hourly',
    })
    expect(trigger).toMatchObject({ function: 'tools/hello', is_enabled: true })
    const keys = await tool('functions-list-access-keys', { NamespaceID: namespace })
    expect(JSON.stringify(keys)).not.toContain('cove-deploy-')
  },
  120_000,
)

test('what is wrong is told, and the rest is deployed', async () => {
  const dir = folder({
    'project.yml':
      'packages:\n  - name: mixed\n    functions:\n      - name: good\n      - name: bad\n',
    'packages/mixed/good.js': 'const main = () => ({ good: true })',
    'packages/mixed/bad/index.js': 'exports.main = () => ({})',
    'packages/mixed/bad/build.sh': 'echo it broke >&2; exit 3\n',
  })
  const { status, out } = await deploy(dir)
  expect(status).toBe(1)
  expect(out).toContain('ok     function mixed/good: version 0.0.1')
  expect(out).toMatch(/FAILED function mixed\/bad: .*\nit broke/)
  expect(await result('good', 'mixed', {})).toEqual({ good: true })

  const remote = await deploy(dir, '--remote-build', '--include', 'mixed/bad', '--json')
  expect(remote.status).toBe(1)
  expect(JSON.parse(remote.out).results.at(-1).failed).toMatch(/status 3:\s+it broke/)

  expect((await deploy(folder({}))).err).toContain('has no project.yml')
  expect((await deploy(folder({ 'project.yml': 'packages: 3' }))).err).toContain(
    'packages must be a list',
  )
  const asks = folder({ 'project.yml': 'parameters: { a: "${NOT_SET}" }' })
  expect((await deploy(asks)).err).toContain('set NOT_SET in the shell or in .env')
}, 120_000)

test('the guide shows commands that exist', async () => {
  const { guide } = (await tool('functions-deployment-guide', {})) as { guide: string }
  const commands = [...guide.matchAll(/^cove functions deploy .*$/gm)].map(([line]) => line)
  expect(commands).toHaveLength(3)
  const flags = new Set(commands.flatMap((line) => line.match(/--[\w-]+/g) ?? []))
  const { out } = await cove(running.home, ['functions', '--help'])
  for (const flag of flags) expect(out).toContain(flag)
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(guide) ?? []
  const dir = folder({
    'project.yml': yaml,
    'packages/tools/hello/index.js': 'exports.main = ({ greeting }) => ({ greeting })',
    'packages/tools/hello/package.json': '{}',
    'packages/tools/bye.py': 'def main(a):\n    return {}\n',
    '.env': 'SECRET=x',
  })
  const { status, out: said } = await deploy(dir, '--namespace', namespace)
  expect(said).not.toContain('FAILED')
  expect(status).toBe(0)
  expect(await result('hello', 'tools', {})).toEqual({ greeting: 'Hello' })
}, 60_000)
