import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newHome, type Running, startCove } from '../../../test/process.ts'

const settings = { COVE_FUNCTIONS_MEMORY: '2048' }
const calls = 1000

/** Control groups of a home, and the processes in them. */
const groupsOf = (home: string) => {
  const folder = join(home, 'functions')
  const label = createHash('sha256').update(folder).digest('hex').slice(0, 8)
  const root = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].find(existsSync) ?? ''
  const dir = join(root, 'cove-functions', label)
  if (!existsSync(dir)) return []
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const text = readFileSync(join(dir, name, 'cgroup.procs'), 'utf8')
      return { name, pids: text.split('\n').filter(Boolean).map(Number) }
    })
}
const processesOf = (home: string) => groupsOf(home).flatMap(({ pids }) => pids)
const nameOf = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return '' // It ended just now.
  }
}

const clientOf = ({ url, token }: Running) => {
  const v2 = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(url + path, init)).json()) as Record<string, never>
  }
  const plane =
    (credentials: string) =>
    (path: string, init: RequestInit = {}) =>
      fetch(`${url}/api/v1/namespaces/_/${path}`, {
        ...init,
        headers: { authorization: `Basic ${btoa(credentials)}` },
      })
  return { v2, plane }
}

test('every accepted call ends in one record, through kill -9 of a sandbox, its supervisor and Cove; nothing is left behind', async () => {
  const home = newHome()
  const first = await startCove(home, [], settings)
  const made = await clientOf(first).v2('/v2/functions/namespaces', { label: 'x', region: 'nyc1' })
  const { uuid, key } = made.namespace as unknown as { uuid: string; key: string }
  const before = clientOf(first).plane(`${uuid}:${key}`)
  const code =
    'const main = async ({ n }) => { await new Promise((r) => setTimeout(r, 5)); return { n } }'
  const put = { method: 'PUT', body: JSON.stringify({ exec: { kind: 'nodejs:20', code } }) }
  expect((await before('actions/work', put)).status).toBe(200)

  const accepted: string[] = []
  let sent = 0
  const submit = async (n: number) => {
    const response = await before('actions/work', { method: 'POST', body: JSON.stringify({ n }) })
    if (response.status !== 202) return
    const { activationId } = (await response.json()) as { activationId: string }
    accepted.push(activationId)
  }
  const worker = async () => {
    // What is refused once Cove is gone was never accepted.
    while (sent < calls) await submit(sent++).catch(() => undefined)
  }
  const workers = Promise.all(Array.from({ length: 8 }, worker))

  const kill = async (after: number, victim: () => number | undefined) => {
    while (accepted.length < after) await sleep(2)
    const pid = victim()
    expect(pid).toBeGreaterThan(0)
    if (pid) process.kill(pid, 'SIGKILL')
  }
  await kill(100, () => processesOf(home).find((pid) => nameOf(pid) === 'node'))
  await kill(250, () => processesOf(home).find((pid) => nameOf(pid) === 'bwrap'))
  await kill(500, () => first.child.pid)
  await workers
  expect(accepted.length).toBeGreaterThanOrEqual(500)
  expect(accepted.length).toBeLessThan(calls)

  // Sandboxes do not outlive the one who started them.
  await expect.poll(() => processesOf(home), { timeout: 5_000 }).toEqual([])

  const second = await startCove(home, [], settings)
  try {
    const after = clientOf(second).plane(`${uuid}:${key}`)
    const outcomes = new Map<string, number>()
    for (const id of accepted) {
      const response = await after(`activations/${id}`)
      expect(response.status, id).toBe(200)
      const { response: told } = (await response.json()) as { response: { status: string } }
      outcomes.set(told.status, (outcomes.get(told.status) ?? 0) + 1)
    }
    expect([...outcomes.values()].reduce((a, b) => a + b)).toBe(accepted.length)
    expect(outcomes.get('success')).toBeGreaterThan(50)
    const { activations } = (await (await after('activations?count=true')).json()) as {
      activations: number
    }
    // One record each; a call whose answer was lost on the way may have one too.
    expect(activations).toBeGreaterThanOrEqual(accepted.length)
    expect(activations).toBeLessThanOrEqual(accepted.length + 16)
    const again = await after('actions/work?blocking=true&result=true', {
      method: 'POST',
      body: '{"n":7}',
    })
    expect(await again.json()).toEqual({ n: 7 })
    // What the first left is gone; only the second's own are there.
    const own = `${second.child.pid}-`
    expect(groupsOf(home).filter(({ name }) => !name.startsWith(own))).toEqual([])
  } finally {
    await second.stop()
  }
  expect(groupsOf(home)).toEqual([])
}, 120_000)

test('a stop waits for calls, ends those that take too long, and records both', async () => {
  const home = newHome()
  const first = await startCove(home, [], settings)
  const made = await clientOf(first).v2('/v2/functions/namespaces', { label: 'x', region: 'nyc1' })
  const { uuid, key } = made.namespace as unknown as { uuid: string; key: string }
  const before = clientOf(first).plane(`${uuid}:${key}`)
  const code = 'const main = ({ ms }) => new Promise((r) => setTimeout(() => r({ ms }), ms))'
  const put = { method: 'PUT', body: JSON.stringify({ exec: { kind: 'nodejs:20', code } }) }
  await before('actions/wait', put)
  const submit = async (ms: number) => {
    const response = await before('actions/wait', { method: 'POST', body: JSON.stringify({ ms }) })
    return ((await response.json()) as { activationId: string }).activationId
  }
  const ids = [await submit(2_000), await submit(59_000)]
  await sleep(500)
  const started = Date.now()
  first.child.kill('SIGTERM')
  await new Promise((resolve) => first.child.once('exit', resolve))
  expect(Date.now() - started).toBeLessThan(30_000)

  const second = await startCove(home, [], settings)
  const after = clientOf(second).plane(`${uuid}:${key}`)
  const results = await Promise.all(
    ids.map(async (id) => (await after(`activations/${id}/result`)).json()),
  )
  await second.stop()
  expect(results[0]).toMatchObject({ success: true, result: { ms: 2_000 } })
  expect(results[1]).toMatchObject({
    status: 'whisk internal error',
    result: { error: 'The platform stopped while the action was waiting or running.' },
  })
}, 90_000)
