import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import { indexingJobs } from '../indexing-jobs/contract.ts'
import { knowledgeBases } from './contract.ts'

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

const rpc = async (args: Record<string, unknown>, headers: Record<string, string> = {}) => {
  const response = await cove.fetch('/v1/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'retrieve_knowledge_base', arguments: args },
    }),
  })
  expect(response.status).toBe(200)
  const { result } = (await response.json()) as {
    result: { isError?: boolean; content: { text: string }[]; structuredContent: Found }
  }
  return result
}

const search = async (args: Record<string, unknown>): Promise<Found> => {
  const result = await rpc({ num_results: 5, ...args })
  if (result.isError) throw new Error(result.content[0]?.text)
  return result.structuredContent
}

test('a folder becomes a knowledge base that answers by meaning, by word and by field', async () => {
  const { knowledge_base: base } = await cove.api(knowledgeBases.create, {
    body: { name: 'handbook', datasources: [{ local_folder_data_source: { path: folder } }] },
  })
  expect(base.last_indexing_job?.status).toBe('INDEX_JOB_STATUS_PENDING')
  await cove.settle()
  const { jobs } = await cove.api(indexingJobs.listOfBase, {
    path: { knowledge_base_uuid: base.uuid },
  })
  expect(jobs[0]).toMatchObject({
    status: 'INDEX_JOB_STATUS_PARTIAL',
    data_source_jobs: [
      {
        total_file_count: '4',
        indexed_file_count: '2',
        skipped_item_count: '1',
        failed_item_count: '1',
      },
    ],
  })
  const id = { knowledge_base_id: base.uuid }
  const meaning = await search({ ...id, query: 'what do felines do all day', alpha: 1 })
  expect(meaning.results[0]?.metadata).toMatchObject({ source_name: 'pets.txt' })
  const word = await search({ ...id, query: 'journal', alpha: 0 })
  expect(word).toMatchObject({
    total_results: 1,
    results: [
      { metadata: { section: 'Installing > Troubleshooting', team: 'platform', level: 2 } },
    ],
  })
  const field = await search({
    ...id,
    query: 'cats',
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
})
