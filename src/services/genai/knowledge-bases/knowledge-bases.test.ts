import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKnowledge } from '#knowledge/knowledge.ts'
import { type World, world } from '../../../../test/world.ts'
import { indexingJobs } from '../indexing-jobs/contract.ts'
import { dataSources, knowledgeBases } from './contract.ts'

let cove: World
let folder: string

beforeAll(async () => {
  cove = await world()
  folder = mkdtempSync(join(tmpdir(), 'cove-documents-'))
  mkdirSync(join(folder, 'guide'))
  write(
    'guide/install.md',
    '---\nteam: platform\nlevel: 2\n---\n# Installing\n\nRun the installer and restart the machine.\n\n## Troubleshooting\n\nWhen the installer stops, look into the journal for the reason.\n',
  )
  write('pets.txt', 'Cats sleep most of the day. Kittens play at night.\n')
  write('broken.pdf', 'not a pdf at all')
  write('picture.png', '\u0000\u0001')
})
afterAll(async () => {
  await cove.close()
  rmSync(folder, { recursive: true, force: true })
})

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)

interface Found {
  total_results: number
  results: { text_content: string; metadata: Record<string, unknown> }[]
}

const retrieve = async (args: Record<string, unknown>) => {
  const response = await cove.fetch('/v1/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'retrieve_knowledge_base',
        arguments: { num_results: 5, ...args },
      },
    }),
  })
  expect(response.status).toBe(200)
  const { result } = (await response.json()) as {
    result: { isError?: boolean; content: { text: string }[]; structuredContent: Found }
  }
  return result
}

const search = async (base: string, query: string, more: Record<string, unknown> = {}) => {
  const result = await retrieve({ knowledge_base_id: base, query, ...more })
  if (result.isError) throw new Error(result.content[0]?.text)
  return result.structuredContent
}
const refusal = async (base: string, more: Record<string, unknown> = {}) => {
  const result = await retrieve({ knowledge_base_id: base, query: 'cats', ...more })
  expect(result.isError).toBe(true)
  return result.content[0]?.text
}

const make = async (name: string, body: Record<string, unknown> = {}) =>
  (
    await cove.api(knowledgeBases.create, {
      body: { name, datasources: [{ local_folder_data_source: { path: folder } }], ...body },
    })
  ).knowledge_base

const sync = async (uuid: string) => {
  const { job } = await cove.api(indexingJobs.start, { body: { knowledge_base_uuid: uuid } })
  await cove.settle()
  return (await cove.api(indexingJobs.get, { path: { uuid: job.uuid } })).job
}

test('a folder becomes a knowledge base that answers by meaning, by word and by field', async () => {
  const base = await make('handbook', {
    datasources: [{ local_folder_data_source: { path: folder }, metadata: { year: 2026 } }],
  })
  expect(base.last_indexing_job?.status).toBe('INDEX_JOB_STATUS_PENDING')
  expect(await refusal(base.uuid)).toBe(
    `Knowledge base ${base.uuid} is still being indexed: try again in a moment.`,
  )
  await cove.settle()
  const { jobs } = await cove.api(indexingJobs.listOfBase, {
    path: { knowledge_base_uuid: base.uuid },
  })
  expect(jobs[0]).toMatchObject({
    status: 'INDEX_JOB_STATUS_PARTIAL',
    phase: 'BATCH_JOB_PHASE_SUCCEEDED',
    completed_datasources: 1,
    data_source_jobs: [
      {
        total_file_count: '4',
        indexed_file_count: '2',
        skipped_item_count: '1',
        failed_item_count: '1',
      },
    ],
  })
  const meaning = await search(base.uuid, 'what do felines do all day', { alpha: 1 })
  expect(meaning.results[0]?.metadata).toMatchObject({ source_name: 'pets.txt', year: 2026 })
  expect(await search(base.uuid, 'journal', { alpha: 0 })).toMatchObject({
    total_results: 1,
    results: [
      {
        metadata: {
          path: 'guide/install.md',
          title: 'Installing',
          section: 'Installing > Troubleshooting',
          chunk_number: 2,
          team: 'platform',
          level: 2,
          modified_at: expect.stringMatching(/^20\d\d-.*Z$/),
        },
      },
    ],
  })
  const field = await search(base.uuid, 'cats', {
    filters: {
      and_all: [
        { equals: { key: 'team', value: 'platform' } },
        { greater_than: { key: 'level', value: 1 } },
      ],
    },
  })
  expect(field.results.map(({ metadata }) => metadata.path)).toEqual([
    'guide/install.md',
    'guide/install.md',
  ])
  expect((await search(base.uuid, 'xylophone', { alpha: 0 })).total_results).toBe(0)
  expect((await search(base.uuid, 'xylophone', { alpha: 1 })).total_results).toBe(3)

  const { signed_url } = await cove.api(indexingJobs.report, {
    path: { indexing_job_uuid: jobs[0]?.uuid ?? '' },
  })
  const report = await cove.fetch(new URL(signed_url).pathname, { headers: { authorization: '' } })
  expect(await report.json()).toMatchObject({
    skipped: [
      { path: 'broken.pdf', reason: expect.stringContaining('is not a readable PDF') },
      { path: 'picture.png', reason: 'is of a kind that is not read' },
    ],
  })
})

test('syncing again embeds only what changed, and drops what is gone', async () => {
  rmSync(join(folder, 'broken.pdf'))
  const base = await make('notes')
  await cove.settle()
  expect(await sync(base.uuid)).toMatchObject({
    status: 'INDEX_JOB_STATUS_NO_CHANGES',
    tokens: 0,
    data_source_jobs: [{ indexed_file_count: '2', indexed_item_count: '0' }],
  })
  write('pets.txt', 'Dogs bark at the moon.\n')
  write('new.txt', 'Parrots repeat what they hear.\n')
  utimesSync(join(folder, 'guide/install.md'), 0, 1000)
  expect(await sync(base.uuid)).toMatchObject({
    status: 'INDEX_JOB_STATUS_COMPLETED',
    data_source_jobs: [{ indexed_file_count: '3', indexed_item_count: '2' }],
  })
  expect((await search(base.uuid, 'cats', { alpha: 0 })).total_results).toBe(0)
  expect((await search(base.uuid, 'dogs', { alpha: 0 })).total_results).toBe(1)
  const touched = await search(base.uuid, 'journal', { alpha: 0 })
  expect(touched.results[0]?.metadata).toMatchObject({
    modified_at: '1970-01-01T00:16:40.000Z',
    team: 'platform',
  })
  rmSync(join(folder, 'new.txt'))
  expect((await sync(base.uuid)).data_source_jobs[0]).toMatchObject({ removed_item_count: '1' })
  expect((await search(base.uuid, 'parrots', { alpha: 0 })).total_results).toBe(0)
})

test('files are uploaded to a signed address and indexed', async () => {
  const text = 'The lighthouse keeper counts ships at dusk.'
  const { uploads } = await cove.api(dataSources.upload, {
    body: { files: [{ file_name: 'keeper.txt', file_size: String(text.length) }] },
  })
  const [upload] = uploads
  if (!upload) throw new Error('an upload was expected')
  const path = new URL(upload.presigned_url).pathname
  const send = (body: string) =>
    cove.fetch(path, { method: 'PUT', body, headers: { authorization: '' } })
  expect((await send(`${text} and more`)).status).toBe(413)
  expect((await send('short')).status).toBe(400)
  expect((await send(text)).status).toBe(200)
  expect((await cove.fetch(`${path}x`, { method: 'PUT', body: text })).status).toBe(403)

  const base = await make('uploads', { datasources: [] })
  expect(await refusal(base.uuid)).toBe(
    `Knowledge base ${base.uuid} has no index yet: add a data source and start an indexing job.`,
  )
  const of = { knowledge_base_uuid: base.uuid }
  const { knowledge_base_data_source: source } = await cove.api(dataSources.create, {
    path: of,
    body: {
      file_upload_data_source: {
        original_file_name: upload.original_file_name,
        stored_object_key: upload.object_key,
      },
    },
  })
  expect((await sync(base.uuid)).status).toBe('INDEX_JOB_STATUS_COMPLETED')
  expect((await search(base.uuid, 'who watches the sea')).results[0]?.metadata.path).toBe(
    'keeper.txt',
  )
  const listed = await cove.api(dataSources.list, { path: of })
  expect(listed.knowledge_base_data_sources[0]?.last_datasource_indexing_job).toMatchObject({
    indexed_file_count: '1',
  })
  await cove.api(dataSources.delete, { path: { ...of, data_source_uuid: source.uuid } })
  await cove.settle()
  expect((await search(base.uuid, 'lighthouse')).total_results).toBe(0)
  expect(readdirSync(join(cove.home, 'knowledge/uploads'))).toEqual([])
})

test('bases are listed, renamed and deleted with everything they held', async () => {
  const base = await make('old name')
  await cove.settle()
  await expect(make('old name')).rejects.toThrow('There is a knowledge base named "old name"')
  const { knowledge_base: renamed } = await cove.api(knowledgeBases.update, {
    path: { uuid: base.uuid },
    body: { name: 'new name', tags: ['a'] },
  })
  expect(renamed).toMatchObject({ name: 'new name', tags: ['a'] })
  const { knowledge_bases } = await cove.api(knowledgeBases.list, {})
  expect(knowledge_bases.map(({ name }) => name)).toContain('new name')
  expect(readdirSync(join(cove.home, 'knowledge'))).toContain(base.uuid)
  await cove.api(knowledgeBases.delete, { path: { uuid: base.uuid } })
  const gone = `Knowledge base ${base.uuid} was not found.`
  await expect(cove.api(knowledgeBases.get, { path: { uuid: base.uuid } })).rejects.toThrow(gone)
  expect(await refusal(base.uuid)).toBe(gone)
  for (let look = 0; look < 5; look++) {
    await cove.settle()
    cove.clock.advance(1000)
  }
  expect(readdirSync(join(cove.home, 'knowledge'))).not.toContain(base.uuid)
})

test('a job can be cancelled, and only one runs at a time', async () => {
  const base = await make('cancelled')
  const uuid = base.last_indexing_job?.uuid ?? ''
  await expect(
    cove.api(indexingJobs.start, { body: { knowledge_base_uuid: base.uuid } }),
  ).rejects.toThrow('is being indexed already')
  await cove.api(indexingJobs.cancel, { path: { uuid }, body: {} })
  await cove.settle()
  const { job } = await cove.api(indexingJobs.get, { path: { uuid } })
  expect(job.status).toBe('INDEX_JOB_STATUS_CANCELLED')
  await expect(cove.api(indexingJobs.cancel, { path: { uuid }, body: {} })).rejects.toThrow(
    'has ended already',
  )
  expect((await sync(base.uuid)).status).toBe('INDEX_JOB_STATUS_COMPLETED')
})

test('another model embeds everything anew, and its failure is told', async () => {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { input } = JSON.parse(body) as { input: string[] }
    const data = input.map((text, index) => ({
      index,
      embedding: [text.includes('journal') ? 1 : 0, 1, text.length / 1000],
    }))
    response.end(JSON.stringify({ data }))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const base = await make('models')
  await cove.settle()
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  await cove.api(knowledgeBases.update, {
    path: { uuid: base.uuid },
    body: { embedding_endpoint: { base_url, model: 'tiny' } },
  })
  expect((await sync(base.uuid)).data_source_jobs[0]?.indexed_item_count).toBe('3')
  const found = await search(base.uuid, 'journal', { alpha: 1 })
  expect(found.results[0]?.text_content).toContain('journal')
  expect(readdirSync(join(cove.home, 'knowledge', base.uuid))).toHaveLength(1)
  server.close()
  server.closeAllConnections()
  expect(await refusal(base.uuid)).toContain('Embedding failed')
  // Also by a Cove that starts while the model is away.
  const other = createKnowledge({
    folder: join(cove.home, 'knowledge'),
    clock: cove.clock,
    secret: () => undefined,
  })
  const away = { uuid: base.uuid, endpoint: { baseUrl: base_url, model: 'tiny' } }
  expect(await other.search(away, { text: 'journal', alpha: 0, limit: 5 })).toHaveLength(1)
  await other.close()
})

test('what cannot be read, or must not be, is refused with the reason', async () => {
  const attempt = (source: Record<string, unknown>) => make('refused', { datasources: [source] })
  await expect(attempt({})).rejects.toThrow('must have one of file_upload_data_source and')
  await expect(attempt({ local_folder_data_source: { path: 'docs' } })).rejects.toThrow(
    'local_folder_data_source.path must be an absolute path.',
  )
  await expect(attempt({ local_folder_data_source: { path: '/no/such' } })).rejects.toThrow(
    '/no/such does not exist.',
  )
  await expect(attempt({ web_crawler_data_source: { base_url: 'x' } })).rejects.toThrow(
    'does not read web_crawler_data_source',
  )
  await expect(
    attempt({
      local_folder_data_source: { path: folder },
      chunking_options: { max_chunk_size: 5000 },
    }),
  ).rejects.toThrow('chunking_options.max_chunk_size must be from 32 to 200')
  const limited = await cove.apiWith('genai:create', 'genai:read')
  await expect(
    limited(knowledgeBases.create, {
      body: { name: 'x', datasources: [{ local_folder_data_source: { path: '/etc' } }] },
    }),
  ).rejects.toThrow("Only the owner's token may add a folder of this machine.")
})
