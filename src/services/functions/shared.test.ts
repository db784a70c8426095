import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApi } from '#client/client.ts'
import { projectFile } from '#core/built.ts'
import { startPostgres, type TestPostgres } from '../../../test/postgres.ts'
import { newHome, type Running, startCove } from '../../../test/process.ts'
import { namespaces } from './namespaces/contract.ts'
import { triggers } from './triggers/contract.ts'

let database: TestPostgres
let coves: Running[] = []
beforeAll(async () => {
  database = await startPostgres()
  const DATABASE_URL = await database.createDatabase('functions')
  const start = () => startCove(newHome(), [], { DATABASE_URL, COVE_FUNCTIONS_MEMORY: '1024' })
  coves = await Promise.all([start(), start()])
})
afterAll(async () => {
  await Promise.all(coves.map((each) => each.stop()))
  await database.stop()
})

test('two Coves on one PostgreSQL share functions, and a tick of the real clock fires once', async () => {
  const [one, two] = coves as [Running, Running]
  const api = createApi({ baseUrl: one.url, token: one.token, fetch })
  const body = { label: 'shared', region: 'nyc1' }
  const { namespace } = await api(namespaces.create, { body })
  const plane = (at: Running, path: string, init: RequestInit = {}) =>
    fetch(`${at.url}/api/v1/namespaces/_/${path}`, {
      ...init,
      headers: { authorization: `Basic ${btoa(`${namespace.uuid}:${namespace.key}`)}` },
    })
  const code = 'const main = ({ n }) => ({ n })'
  const put = { method: 'PUT', body: JSON.stringify({ exec: { kind: 'nodejs:20', code } }) }
  expect((await plane(one, 'actions/tick', put)).status).toBe(200)
  const call = { method: 'POST', body: '{"n":1}' }
  const called = await plane(two, 'actions/tick?blocking=true&result=true', call)
  expect(await called.json()).toEqual({ n: 1 })

  const created = Date.now()
  await api(triggers.create, {
    path: { namespace_id: namespace.namespace },
    body: {
      name: 'each-minute',
      function: 'tick',
      type: 'SCHEDULED',
      is_enabled: true,
      scheduled_details: { cron: '* * * * *', body: { n: 2 } },
    },
  })
  const fired = async (at: Running) => {
    const found = (await (await plane(at, 'activations?docs=true')).json()) as {
      start: number
      response: { result: { n: number } }
    }[]
    return found.filter(({ response }) => response.result.n === 2)
  }
  await expect.poll(() => fired(two), { timeout: 75_000, interval: 500 }).not.toEqual([])
  // Time enough for the other one to fire too, if it would.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const ticks = Math.floor(Date.now() / 60_000) - Math.floor(created / 60_000)
  expect(await fired(one)).toHaveLength(ticks)
}, 120_000)

test('the commands of the guide to functions do what it says', async () => {
  const [one] = coves as [Running]
  const text = readFileSync(projectFile('docs/functions.md'), 'utf8')
  const [create = '', use = ''] = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, block]) => block,
  )
  const person = newHome()
  symlinkSync(one.home, join(person, '.cove'))
  const shell = (script: string, more: Record<string, string> = {}) =>
    execFileSync('bash', ['-ec', script], {
      env: { PATH: process.env.PATH, HOME: person, ...more },
      encoding: 'utf8',
    })
  const made = JSON.parse(shell(create.replace('http://127.0.0.1:8787', one.url)))
  const { uuid: UUID, key: KEY } = made.namespace
  const answers = shell(use, { URL: one.url, UUID, KEY })
  expect(answers.endsWith('{"hello":"Ada"}')).toBe(true)
}, 30_000)
