import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApi } from '#client/client.ts'
import { keys } from '#services/account/keys/contract.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'
import { cove, newHome, type Running, startCove } from './process.ts'

let server: TestPostgres
let url: string
beforeAll(async () => {
  server = await startPostgres()
  url = await server.createDatabase('cloud')
})
afterAll(() => server.stop())

const publicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@laptop'

const apiOf = ({ url: baseUrl, token }: Running) => createApi({ baseUrl, token, fetch })

test('two Coves on one PostgreSQL are one cloud, and outlive each other', async () => {
  const [one, two] = await Promise.all([
    startCove(newHome(), [], { DATABASE_URL: url }),
    startCove(newHome(), [], { DATABASE_URL: url }),
  ])
  const body = { name: 'laptop', public_key: publicKey }
  const { ssh_key } = await apiOf(one)(keys.create, { body })
  const path = { id: String(ssh_key.id) }
  expect((await apiOf(two)(keys.get, { path })).ssh_key).toEqual(ssh_key)
  await expect(apiOf(two)(keys.create, { body })).rejects.toMatchObject({ status: 422 })
  await one.kill()
  await apiOf(two)(keys.delete, { path })
  const again = await startCove(one.home, [], { DATABASE_URL: url })
  await expect(apiOf(again)(keys.get, { path })).rejects.toMatchObject({ status: 404 })
  await Promise.all([again.stop(), two.stop()])
})

test('a database that is not there is said in one sentence', async () => {
  const home = newHome()
  const refused = await cove(home, ['up', '--port', '0'], {
    DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/cloud',
  })
  rmSync(home, { recursive: true })
  expect(refused.status).not.toBe(0)
  expect(refused.err.trim()).toBe(
    'The PostgreSQL database cloud at 127.0.0.1:1 cannot be reached. (connect ECONNREFUSED 127.0.0.1:1)',
  )
})
