import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { cleanEnv, cove, launcher, newHome, type Running, startCove } from './process.ts'
import { type ScriptedUpstream, says, scriptedUpstream } from './upstream.ts'

const document = readFileSync(projectFile('docs/inference-routers.md'), 'utf8')
const blocks = (language: string) =>
  [...document.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, text = '']) => text,
  )

let local: ScriptedUpstream
let acme: ScriptedUpstream
let running: Running
const key = { ACME_API_KEY: 'secret-of-acme' }

beforeAll(async () => {
  local = await scriptedUpstream(says('from local'), ['small'])
  acme = await scriptedUpstream(says('from acme'))
  running = await startCove(newHome(), [], key)
})
afterAll(async () => {
  await running.stop()
  await local.close()
  await acme.close()
})

/** The text with the addresses of this test. */
const here = (text: string) =>
  text
    .replaceAll('http://127.0.0.1:11434/v1', local.url)
    .replaceAll('https://api.acme.example/v1', acme.url)
    .replaceAll('http://127.0.0.1:8787', running.url)
    .replaceAll('~/.cove', running.home)

const run = async (program: string, args: string[]) =>
  (
    await promisify(execFile)(program, args, {
      cwd: projectFile('.'),
      env: cleanEnv(running.home, { COVE_TOKEN: running.token }),
    })
  ).stdout

const shell = (script: string) =>
  run('bash', ['-ec', `cove() { '${process.execPath}' '${launcher}' "$@"; }\n${here(script)}`])

test('the page works as it is written, from the provider to the statistics', async () => {
  const [providers = '', router = '', curl = '', stats = ''] = blocks('sh')
  const listed = await shell(providers)
  expect(listed).toMatch(/^local\s+small\s+chat\s+-\s+-\s+-\s+ready$/m)
  expect(listed).toMatch(/^acme\s+acme-large\s+chat\s+2.5\s+10\s+128000\s+ready$/m)
  expect(await shell(router)).toContain('"name": "office"')
  expect(JSON.parse(await shell(curl)).choices[0].message.content).toBe('from acme')
  expect(acme.received[0]?.authorization).toBe('Bearer secret-of-acme')
  const [program = ''] = blocks('js')
  expect(await run(process.execPath, ['--input-type=module', '-e', here(program)])).toBe(
    'from acme',
  )
  const counted = await shell(stats)
  expect(counted).toMatch(/^office\s+translation\s+acme\/acme-large\s+1\s+0\s+12\s+3\s+0.0001/m)
  expect(counted).toMatch(/^office\s+refunds\s+acme\/acme-large\s+1\s+0\s+12\s+3/m)
  const store = readFileSync(join(running.home, 'cove.db'), 'latin1')
  expect(store).not.toContain('secret-of-acme')
  expect(store).not.toContain('the bridge is closed')
})

test('models are removed, and what is asked wrongly is told', async () => {
  const env = key
  const say = async (...args: string[]) => (await cove(running.home, args, env)).err.trim()
  expect(await say('models', 'fly')).toContain('Say one of: cove models add PROVIDER')
  expect(await say('models', 'add', 'new')).toContain('base_url is required for a new provider')
  expect(await say('models', 'add', 'No Good', '--base-url', acme.url)).toContain('must be like')
  expect(await say('models', 'add', 'acme', '--price-in', 'cheap', '--model', 'x')).toContain(
    '--price-in must be US dollars for a million tokens, like 2.5, not "cheap"',
  )
  expect(await say('models', 'add', 'acme', '--price-in', '1')).toContain('say which with --model')
  expect(
    await say('models', 'add', 'thief', '--base-url', acme.url, '--api-key-env', 'COVE_TOKEN'),
  ).toContain('must not name a secret of Cove itself')
  expect(await say('models', 'add', 'mute', '--base-url', 'http://127.0.0.1:9/v1')).toMatch(
    /does not tell the models of mute: .*ECONNREFUSED.* Name them yourself/,
  )
  expect(await say('routers')).toContain('Say: cove routers stats [NAME].')
  const { out } = await cove(running.home, ['models', 'remove', 'acme', '--model', 'acme-large'])
  expect(out).toBe('acme/acme-large is removed.\n')
  await cove(running.home, ['models', 'remove', 'local'])
  const left = JSON.parse((await cove(running.home, ['models', 'list', '--json'])).out)
  expect(left).toMatchObject([{ name: 'acme', models: [] }])
})

test('config.json names providers too, and a mistake in it is told at the start', async () => {
  const home = newHome()
  const [config = ''] = blocks('json')
  writeFileSync(join(home, 'config.json'), here(config))
  const other = await startCove(home, [], key)
  try {
    const { out } = await cove(home, ['models', 'list'], key)
    expect(out).toMatch(/^local\s+small/m)
    expect(out).toMatch(/^acme\s+acme-large\s+chat\s+2.5/m)
    writeFileSync(join(home, 'config.json'), '{"providers": {"x": {"url": "y"}}}')
  } finally {
    await other.kill()
  }
  const { err, status } = await cove(home, ['up', '--port', '0'])
  expect(err).toContain('config.json: providers.x has no field "url"')
  expect(status).toBe(2)
})
