import { existsSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processesOf } from '../../../test/databases/leftovers.ts'
import { type World, world } from '../../../test/world.ts'
import { type Cluster, type Connection, clusters } from './clusters/contract.ts'

/** OpenSearch is fetched by `cove engines install opensearch`; tests use one that is there already. */
const installed = join(tmpdir(), `cove-test-engines-${process.getuid?.()}`)
const present =
  Boolean(process.env.OPENSEARCH_HOME) || existsSync(join(installed, 'opensearch-2.19.1'))
if (!present) console.warn('\nNOT TESTED: OpenSearch is not installed here (OPENSEARCH_HOME).\n')

describe.runIf(present)('opensearch', () => {
  let cove: World
  let id = ''
  let connection: Connection
  let ca = ''

  beforeAll(async () => {
    cove = await world({ databases: { installed } })
    const made = await cove.tool('db-cluster-create', {
      ...{ name: 'search', engine: 'opensearch', version: '2', region: 'nyc3' },
      ...{ size: 'db-s-1vcpu-2gb', num_nodes: 1 },
    })
    id = (made.database as Cluster).id
    await cove.settle()
    const got = await cove.call('db-cluster-get', { id })
    const database = got.structuredContent?.database as Cluster
    expect(database.status, JSON.stringify(got.content)).toBe('online')
    connection = database.connection as Connection
    const authority = await cove.api(clusters.ca, { path: { id } })
    ca = Buffer.from(authority.ca.certificate, 'base64').toString()
  }, 120_000)
  afterAll(async () => {
    await cove.tool('db-cluster-delete', { id })
    await cove.settle()
    expect(processesOf(id)).toEqual([])
    await cove.close()
  }, 60_000)

  const send = (
    method: string,
    path: string,
    body?: object,
    { user = connection.user, password = connection.password } = {},
  ) =>
    new Promise<{ status: number; body: Record<string, unknown> }>((resolve, reject) => {
      const { host, port } = connection
      const headers = { 'content-type': 'application/json' }
      const options = { host, port, method, path, ca, headers, auth: `${user}:${password}` }
      const call = request(options, (response) => {
        let text = ''
        response.on('data', (part) => (text += part))
        response.on('end', () => {
          const answer = text.startsWith('{') ? JSON.parse(text) : {}
          resolve({ status: response.statusCode ?? 0, body: answer })
        })
      })
      call.on('error', reject)
      call.end(body ? JSON.stringify(body) : '')
    })

  test('documents are indexed and found over verified TLS', async () => {
    expect((await send('GET', '/', undefined, { password: 'wrong' })).status).toBe(401)
    const put = await send('PUT', '/books-1/_doc/1?refresh=true', { title: 'The sea' })
    expect(put.status).toBe(201)
    const found = await send('GET', '/books-1/_search?q=sea')
    expect(found.body).toMatchObject({ hits: { total: { value: 1 } } })
  }, 60_000)

  test('rights on indexes are enforced', async () => {
    const settings = { opensearch_acl: [{ index: 'books-*', permission: 'read' }] }
    const { user } = (await cove.tool('db-cluster-create-user', {
      id,
      name: 'reader',
      settings,
    })) as {
      user: { password: string }
    }
    const login = { user: 'reader', password: user.password }
    expect((await send('GET', '/books-1/_search', undefined, login)).status).toBe(200)
    expect((await send('PUT', '/books-1/_doc/2', { a: 1 }, login)).status).toBe(403)
    expect((await send('PUT', '/other/_doc/1', { a: 1 }, login)).status).toBe(403)
    await cove.tool('db-cluster-delete-user', { id, user: 'reader' })
    expect((await send('GET', '/books-1/_search', undefined, login)).status).toBe(401)
  }, 60_000)

  test('settings change in the engine, and the firewall holds', async () => {
    await cove.tool('db-cluster-update-os-config', { id, config: { search_max_buckets: 20_000 } })
    const { config } = await cove.tool('db-cluster-get-opensearch-config', { id })
    expect(config).toMatchObject({ search_max_buckets: 20_000 })
    const told = await cove.call('db-cluster-update-os-config', {
      id,
      config: { ism_enabled: true },
    })
    expect(JSON.stringify(told.content)).toContain('ism_enabled is accepted and not in force')
    const rules = [{ type: 'ip_addr', value: '10.1.2.3' }]
    await cove.tool('db-cluster-update-firewall-rules', { id, rules })
    await expect(send('GET', '/')).rejects.toThrow()
    await cove.tool('db-cluster-update-firewall-rules', { id, rules: [] })
    expect((await send('GET', '/')).status).toBe(200)
  }, 60_000)
})
