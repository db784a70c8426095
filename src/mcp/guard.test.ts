import { expect, test } from 'vitest'
import { createGuard } from './guard.ts'

const ask = (guard: ReturnType<typeof createGuard>, headers: Record<string, string>) =>
  guard(new Request('http://localhost:8787/mcp', { method: 'POST', headers }))

test('by default only this machine is answered, under any port', () => {
  const guard = createGuard()
  for (const host of ['localhost', 'LOCALHOST:8787', '127.0.0.1:1', '[::1]:8787'])
    expect(ask(guard, { host })).toBeUndefined()
  for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:5'])
    expect(ask(guard, { host: 'localhost', origin })).toBeUndefined()
})

test('foreign names and pages are refused in one sentence', async () => {
  const guard = createGuard()
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    'evil.example:8787',
    '127.0.0.1.nip.io',
  ])
    expect(ask(guard, { host })?.status).toBe(403)
  for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example', 'file://'])
    expect(ask(guard, { host: 'localhost', origin })?.status).toBe(403)
  const refusal = ask(guard, { host: 'evil.example' })
  expect(await refusal?.json()).toEqual({
    id: 'forbidden',
    message: 'The Host "evil.example" is not one this server answers to.',
  })
})

test('more names and pages can be allowed', () => {
  const guard = createGuard({
    hosts: ['cloud.example', '10.0.0.5:8787'],
    origins: ['https://app.example'],
  })
  expect(ask(guard, { host: 'Cloud.Example:443' })).toBeUndefined()
  expect(ask(guard, { host: '10.0.0.5:8787' })).toBeUndefined()
  expect(ask(guard, { host: '10.0.0.5:80' })?.status).toBe(403)
  expect(ask(guard, { host: 'localhost', origin: 'https://app.example' })).toBeUndefined()
  expect(ask(guard, { host: 'localhost', origin: 'http://app.example' })?.status).toBe(403)
})
