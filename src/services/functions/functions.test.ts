import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { zipFolder } from '#engines/sandbox/zip.ts'
import { type World, world } from '../../../test/world.ts'

let cove: World
let namespace = ''
const run = (name: string, args: Record<string, unknown> = {}) =>
  cove.tool(`functions-${name}`, { NamespaceID: namespace, ...args })
const refusal = (name: string, args: Record<string, unknown> = {}) =>
  cove.refusal(`functions-${name}`, { NamespaceID: namespace, ...args })
const deploy = (ActionName: string, Code: string, more: Record<string, unknown> = {}) =>
  run('create-or-update-action', { ActionName, Kind: 'nodejs:20', Code, ...more })
const result = (ActionName: string, Payload: object = {}, more: Record<string, unknown> = {}) =>
  run('invoke-action', { ActionName, Payload, Result: true, ...more })
const newNamespace = async (Label: string) => {
  const made = await cove.tool('functions-create-namespace', { Label, Region: 'nyc1' })
  return (made.namespace as { namespace: string }).namespace
}
/** An archive of files, as it is sent. */
const archive = async (files: Record<string, string>) => {
  const dir = mkdtempSync(join(tmpdir(), 'cove-zip-'))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true })
    await writeFile(join(dir, name), text)
  }
  const bytes = await zipFolder(dir)
  rmSync(dir, { recursive: true })
  return bytes.toString('base64')
}

beforeAll(async () => {
  cove = await world()
  namespace = await newNamespace('shop')
})
afterAll(() => cove.close())

describe('an assistant deploys a function and calls it', () => {
  const sources = {
    'nodejs:20': 'const main = ({ name }) => ({ text: `Hello ${name} from nodejs` })',
    'python:3.11': 'def main(args):\n    return {"text": "Hello %s from python" % args["name"]}',
    'php:default':
      '<?php function main(array $a) { return ["text" => "Hello {$a["name"]} from php"]; }',
    'go:default': `package main
      func Main(a map[string]interface{}) map[string]interface{} {
        return map[string]interface{}{"text": "Hello " + a["name"].(string) + " from go"}
      }`,
  }
  test.each(Object.entries(sources))(
    'in %s',
    async (Kind, code) => {
      const language = Kind.split(':')[0]
      const name = `hello-${language}`
      expect(await deploy(name, code, { Kind })).toMatchObject({
        name,
        version: '0.0.1',
        exec: { kind: Kind, binary: false },
        limits: { timeout: 60000, memory: 256, logs: 10 },
        annotations: expect.arrayContaining([{ key: 'exec', value: Kind }]),
      })
      expect(await result(name, { name: 'Ada' })).toEqual({ text: `Hello Ada from ${language}` })
    },
    180_000,
  )

  test('and reads the record of the call, its logs and its result', async () => {
    await deploy(
      'talk',
      'function main() { console.log("one"); console.error("two"); return { ok: 1 } }',
    )
    const record = await run('invoke-action', { ActionName: 'talk' })
    expect(record).toMatchObject({
      name: 'talk',
      namespace,
      version: '0.0.1',
      response: { status: 'success', success: true, result: { ok: 1 } },
    })
    const ActivationID = record.activationId as string
    expect(ActivationID).toMatch(/^[0-9a-f]{32}$/)
    expect(await run('get-activation', { ActivationID })).toEqual(record)
    const { logs } = (await run('get-activation-logs', { ActivationID })) as { logs: string[] }
    expect(logs.map((line) => line.slice(31)).sort()).toEqual(['stderr: two', 'stdout: one'])
    expect(logs[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {6} std/)
    expect(await run('get-activation-result', { ActivationID })).toMatchObject({ success: true })
    const { activations } = (await run('list-activations', { FunctionName: 'talk' })) as {
      activations: object[]
    }
    expect(activations).toHaveLength(1)
    expect(activations[0]).toMatchObject({ activationId: ActivationID, statusCode: 0 })
    expect(await refusal('get-activation', { ActivationID: 'f'.repeat(32) })).toContain(
      'The requested resource does not exist',
    )
    expect(await refusal('get-activation', { ActivationID: 'x' })).toContain('32 hexadecimal')
  })

  test('from an archive with dependencies, in Node and Python', async () => {
    const node = await archive({
      'package.json': '{"main": "lib/start.js"}',
      'lib/start.js':
        'const { shout } = require("shout"); exports.main = (a) => ({ text: shout(a.text) })',
      'node_modules/shout/package.json': '{"name": "shout", "main": "index.js"}',
      'node_modules/shout/index.js': 'exports.shout = (text) => text.toUpperCase()',
    })
    expect(await deploy('zip-node', node)).toMatchObject({ exec: { binary: true } })
    expect(await result('zip-node', { text: 'hi' })).toEqual({ text: 'HI' })

    const python = await archive({
      '__main__.py':
        'import shout, helper\ndef main(a):\n    return {"text": shout.loud(a["text"]) + helper.mark}\n',
      'helper.py': 'mark = "!"\n',
      'virtualenv/lib/python3.11/site-packages/shout.py': 'def loud(t):\n    return t.upper()\n',
    })
    await deploy('zip-python', python, { Kind: 'python:3.11' })
    expect(await result('zip-python', { text: 'hi' })).toEqual({ text: 'HI!' })
    expect(
      await refusal('create-or-update-action', { ActionName: 'zip-bad', Code: 'UEsDBBQ=' }),
    ).toContain('The archive cannot be unpacked')
  })

  test('with another main, ES modules, arrays, and what OpenWhisk puts into the environment', async () => {
    await deploy('named', 'const go = () => ({ from: "go" })', { Main: 'go' })
    expect(await result('named')).toEqual({ from: 'go' })
    await deploy(
      'esm',
      'import { sep } from "node:path"; export async function main() { return { sep } }',
    )
    expect(await result('esm')).toEqual({ sep: '/' })
    await deploy('list', 'const main = () => [1, 2]')
    expect(await run('invoke-action', { ActionName: 'list' })).toEqual({ items: [1, 2], count: 2 })
    await deploy('env', 'const main = () => ({ env: process.env })')
    const { env } = (await result('env')) as { env: Record<string, string> }
    expect(env).toMatchObject({
      __OW_NAMESPACE: namespace,
      __OW_ACTION_NAME: `/${namespace}/env`,
      __OW_ACTION_VERSION: '0.0.1',
      __OW_API_HOST: 'http://127.0.0.1:8787',
    })
    expect(env.__OW_API_KEY).toBeUndefined()
    expect(Number(env.__OW_DEADLINE)).toBeGreaterThan(0)
    expect(Object.keys(env).filter((name) => /TOKEN|SECRET|npm_|COVE/.test(name))).toEqual([])
    await run('create-or-update-action', {
      ActionName: 'env',
      Annotations: [{ key: 'provide-api-key', value: true }],
    })
    const again = (await result('env')) as { env: Record<string, string> }
    expect(again.env.__OW_API_KEY).toMatch(/^[0-9a-f-]{36}:/)
    expect(again.env.__OW_ACTION_VERSION).toBe('0.0.2')
  })
})

describe('an update', () => {
  test('bumps the version, keeps what is not sent, and never runs old code again', async () => {
    await deploy('counter', 'let n = 0; const main = () => ({ n: ++n, v: 1 })', {
      Parameters: [{ key: 'a', value: 1 }],
      Annotations: [{ key: 'team', value: 'blue' }],
    })
    expect(await result('counter')).toEqual({ n: 1, v: 1 })
    expect(await result('counter')).toEqual({ n: 2, v: 1 })
    expect(await deploy('counter', 'const main = (a) => ({ ...a, v: 2 })')).toMatchObject({
      version: '0.0.2',
      parameters: [{ key: 'a', value: 1 }],
      annotations: expect.arrayContaining([{ key: 'team', value: 'blue' }]),
    })
    expect(await result('counter')).toEqual({ a: 1, v: 2 })
    const shown = (await run('get-action', { ActionName: 'counter' })) as { exec: object }
    expect(shown.exec).toEqual({ kind: 'nodejs:20', binary: false })
    const code = (await run('get-action', { ActionName: 'counter', IncludeCode: true })) as {
      exec: { code: string }
    }
    expect(code.exec.code).toContain('v: 2')

    await run('delete-action', { ActionName: 'counter' })
    expect(await refusal('invoke-action', { ActionName: 'counter' })).toContain('does not exist')
    await deploy('counter', 'const main = () => ({ v: 3 })')
    expect(await result('counter')).toEqual({ v: 3 })
  })

  test('is refused for limits out of range, unknown kinds and code that does not compile', async () => {
    const bad = (more: object) =>
      refusal('create-or-update-action', { ActionName: 'bad', Code: 'x', ...more })
    expect(await bad({ Timeout: 50 })).toContain('timeout 50 milliseconds below allowed threshold')
    expect(await bad({ Memory: 64 })).toContain('memory 64 MB below allowed threshold of 128 MB')
    expect(await bad({ Logs: 11 })).toContain('logs 11 MB exceeds allowed threshold of 10 MB')
    expect(await bad({ Kind: 'cobol:9' })).toContain(
      "The specified runtime 'cobol:9' is not supported",
    )
    expect(await bad({ ActionName: 'a/b' })).toContain('is not valid')
    expect(await bad({ Kind: 'blackbox', Code: undefined, Image: 'no/such' })).toContain(
      "Failed to pull container image 'no/such'",
    )
    expect(await bad({ Kind: 'blackbox', Code: undefined, Image: '../../etc' })).toContain(
      'Failed to pull',
    )
    const go = await bad({ Kind: 'go:default', Code: 'package main\nfunc Main( {' })
    expect(go).toContain('The Go code does not compile')
    expect(go).toContain('main.go:2')
  }, 180_000)
})

describe('what goes wrong is told apart', () => {
  const failing = async (name: string, code: string, more: Record<string, unknown> = {}) => {
    await deploy(name, code, more)
    const record = (await run('invoke-action', { ActionName: name })) as {
      response: { status: string; result: { error: string } }
      annotations: { key: string; value: unknown }[]
      logs: string[]
    }
    const failure = record.annotations.find(({ key }) => key === 'failure')?.value
    const { status, result } = record.response
    return { status, error: result.error, failure, logs: record.logs }
  }
  test('errors of the action, exceptions, exits and answers that are none', async () => {
    expect(await failing('app', 'const main = () => ({ error: "no stock" })')).toMatchObject({
      status: 'application error',
      error: 'no stock',
    })
    expect(
      await failing('reject', 'const main = async () => { throw new Error("later") }'),
    ).toMatchObject({
      status: 'application error',
      error: 'later',
    })
    expect(await failing('throw', 'const main = () => { throw new Error("now") }')).toMatchObject({
      status: 'action developer error',
      error: expect.stringContaining('An error has occurred: Error: now'),
    })
    expect(await failing('exit', 'const main = () => process.exit(1)')).toMatchObject({
      status: 'action developer error',
      failure: 'exit',
      error: 'The action did not produce a valid response and exited unexpectedly.',
    })
    expect(await failing('text', 'const main = () => "hello"')).toMatchObject({
      failure: 'answer',
      error: 'The action did not return a dictionary or array.',
    })
    expect(await failing('syntax', 'const main = (')).toMatchObject({
      failure: 'init',
      error: expect.stringContaining('Initialization has failed due to: '),
    })
    expect(await failing('none', 'const other = 1')).toMatchObject({
      error: expect.stringContaining('the code has no function called main'),
    })
  })

  test('time, memory, logs and size', async () => {
    expect(
      await failing('loop', 'const main = () => { for (;;); }', { Timeout: 300 }),
    ).toMatchObject({
      status: 'action developer error',
      failure: 'timeout',
      error: 'The action exceeded its time limits of 300 milliseconds.',
    })
    expect(await failing('slow-init', 'for (;;);', { Timeout: 300 })).toMatchObject({
      failure: 'timeout',
      error: 'The action exceeded its time limits of 300 milliseconds during initialization.',
    })
    expect(
      await failing(
        'greedy',
        'const main = () => { const a = []; for (;;) a.push(Buffer.alloc(1e6, 1)) }',
        {
          Memory: 128,
        },
      ),
    ).toMatchObject({
      failure: 'memory',
      error: 'The action exhausted its memory and was aborted.',
    })
    const loud = await run('invoke-action', {
      ActionName: (
        await deploy(
          'loud',
          'const main = () => { for (let i = 0; i < 40; i++) console.log("x".repeat(60000)); return {} }',
          {
            Logs: 1,
          },
        )
      ).name,
    })
    expect(loud).toMatchObject({ response: { success: true } })
    const { namespace: own } = (await run('get-namespace')) as {
      namespace: { uuid: string; key: string }
    }
    const shown = await cove.fetch(
      `/api/v1/namespaces/_/activations/${String(loud.activationId)}/logs`,
      { headers: { authorization: `Basic ${btoa(`${own.uuid}:${own.key}`)}` } },
    )
    const { logs } = (await shown.json()) as { logs: string[] }
    expect(logs.at(-1)?.slice(0, 200)).toBe(
      'Logs were truncated because the total bytes size exceeds the limit of 1048576 bytes.',
    )
    expect(logs.join('\n').length).toBeLessThan(1_200_000)
    expect(await failing('big', 'const main = () => ({ x: "y".repeat(2e6) })')).toMatchObject({
      status: 'application error',
      failure: 'size',
      error: expect.stringMatching(/exceeded the allowed length: 2000008 > 1048576 bytes/),
    })
  })

  test('a call that outlives its wait answers an id, and its record comes later', async () => {
    await deploy(
      'slow',
      'const main = () => new Promise((r) => setTimeout(() => r({ late: true }), 600))',
    )
    const { activationId } = await run('invoke-action', { ActionName: 'slow', InvokeTimeout: 50 })
    await expect
      .poll(() => run('get-activation-result', { ActivationID: activationId }).catch(() => ({})), {
        timeout: 10_000,
      })
      .toMatchObject({ success: true, result: { late: true } })
  })

  test('a call without waiting answers an id at once', async () => {
    const answer = await run('invoke-action', { ActionName: 'talk', Blocking: false })
    expect(Object.keys(answer)).toEqual(['activationId'])
    await expect
      .poll(() => run('get-activation', { ActivationID: answer.activationId }).catch(() => ({})), {
        timeout: 10_000,
      })
      .toMatchObject({ name: 'talk' })
  })
})

describe('packages', () => {
  test('give parameters, are bound by others, and go only when empty or forced', async () => {
    const pair = (key: string, value: unknown) => ({ key, value })
    await run('create-or-update-package', {
      PackageName: 'tools',
      Publish: true,
      Parameters: [pair('from', 'package'), pair('a', 1)],
    })
    await deploy('echo', 'const main = (a) => a', {
      PackageName: 'tools',
      Parameters: [pair('from', 'action'), pair('b', 2)],
    })
    const inPackage = { PackageName: 'tools' }
    expect(await result('echo', { b: 3 }, inPackage)).toEqual({ from: 'action', a: 1, b: 3 })
    expect(await run('get-package', inPackage)).toMatchObject({
      name: 'tools',
      binding: {},
      actions: [{ name: 'echo', version: '0.0.1' }],
    })

    const owner = namespace
    namespace = await newNamespace('customer')
    try {
      await run('create-or-update-package', {
        PackageName: 'bound',
        Binding: { namespace: owner, name: 'tools' },
        Parameters: [pair('a', 'mine')],
      })
      expect(await result('echo', {}, { PackageName: 'bound' })).toEqual({
        from: 'action',
        a: 'mine',
        b: 2,
      })
      const { packages } = (await run('list-packages', { Public: true })) as {
        packages: { name: string }[]
      }
      expect(packages.map(({ name }) => name)).toEqual(['bound', 'tools'])
      expect(
        await refusal('delete-action', { ActionName: 'echo', PackageName: 'bound' }),
      ).toContain('The requested resource does not exist')
      expect(
        await refusal('create-or-update-package', {
          PackageName: 'wrong',
          Binding: { namespace: owner, name: 'nothing' },
        }),
      ).toContain('Binding references a package that does not exist.')
    } finally {
      namespace = owner
    }

    expect(await refusal('delete-package', inPackage)).toContain(
      'Package not empty (contains 1 entity). Set force param or delete package contents.',
    )
    await run('delete-package', { ...inPackage, Force: true })
    expect(await refusal('get-package', inPackage)).toContain('does not exist')
    expect(await refusal('get-action', { ActionName: 'echo', ...inPackage })).toContain('not exist')
    expect(await refusal('create-or-update-package', { PackageName: 'default' })).toContain(
      'reserved',
    )
    expect(await refusal('create-or-update-package', { PackageName: 'talk' })).toContain(
      'exists but is not in this collection',
    )
  })
})

describe('sequences', () => {
  test('pass results on, stop at the first error, and keep their parts as records', async () => {
    await deploy('add', 'const main = ({ n = 0 }) => ({ n: n + 1 })')
    await deploy('double', 'const main = ({ n }) => ({ n: n * 2 })')
    await deploy('fail', 'const main = ({ n }) => ({ error: `stopped at ${n}` })')
    await run('create-or-update-action', {
      ActionName: 'both',
      Kind: 'sequence',
      Components: ['add', 'double'],
    })
    const record = (await run('invoke-action', { ActionName: 'both', Payload: { n: 4 } })) as {
      activationId: string
      logs: string[]
      response: object
    }
    expect(record.response).toMatchObject({ result: { n: 10 } })
    expect(record.logs).toHaveLength(2)
    expect(await run('get-activation', { ActivationID: record.logs[1] })).toMatchObject({
      name: 'double',
      cause: record.activationId,
      annotations: expect.arrayContaining([{ key: 'causedBy', value: 'sequence' }]),
    })
    await run('create-or-update-action', {
      ActionName: 'nested',
      Components: ['both', 'fail', 'add'],
    })
    expect(await run('invoke-action', { ActionName: 'nested' })).toMatchObject({
      response: { status: 'application error', result: { error: 'stopped at 2' } },
      logs: [expect.any(String), expect.any(String)],
    })
    const bad = (Components: string[]) =>
      refusal('create-or-update-action', { ActionName: 'both', Components })
    expect(await bad(['nested'])).toContain('Sequence may not refer to itself.')
    expect(await bad(['nowhere'])).toContain('Sequence component does not exist.')
    expect(await bad(Array(51).fill('add'))).toContain('Too many actions in the sequence.')
  })
})

test('lists are newest first, in windows', async () => {
  const owner = namespace
  namespace = await newNamespace('lists')
  try {
    for (const name of ['a', 'b', 'c']) await deploy(name, 'const main = () => ({})')
    await deploy('a', 'const main = () => ({ v: 2 })')
    const names = async (more: object) =>
      ((await run('list-actions', { ...more })).actions as { name: string }[]).map(
        ({ name }) => name,
      )
    expect(await names({})).toEqual(['a', 'c', 'b'])
    expect(await names({ Limit: 1, Skip: 1 })).toEqual(['c'])
    const times: number[] = []
    for (const name of ['a', 'b', 'c']) {
      cove.clock.advance(1000)
      times.push(((await run('invoke-action', { ActionName: name })) as { start: number }).start)
    }
    const called = async (more: object) =>
      ((await run('list-activations', { ...more })).activations as { name: string }[]).map(
        ({ name }) => name,
      )
    expect(await called({})).toEqual(['c', 'b', 'a'])
    expect(await called({ Since: times[1] })).toEqual(['c', 'b'])
    expect(await called({ Upto: times[1] })).toEqual(['b', 'a'])
    expect(await called({ Limit: 1, Skip: 2 })).toEqual(['a'])
    const { activations } = (await run('list-activations', { IncludeDocs: true, Limit: 1 })) as {
      activations: object[]
    }
    expect(activations[0]).toMatchObject({ response: { success: true }, logs: [] })
  } finally {
    await run('delete-namespace')
    namespace = owner
  }
})

test('records are forgotten after their time', async () => {
  const before = ((await run('list-activations', {})).activations as object[]).length
  expect(before).toBeGreaterThan(0)
  cove.clock.advance(3 * 24 * 3_600_000)
  await expect
    .poll(async () => {
      cove.clock.advance(600_000)
      return ((await run('list-activations', {})).activations as object[]).length
    })
    .toBe(0)
})
