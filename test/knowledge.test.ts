import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApi } from '#client/client.ts'
import { projectFile } from '#core/built.ts'
import { parseFilter } from '#knowledge/filter.ts'
import { indexingJobs } from '#services/genai/indexing-jobs/contract.ts'
import { isOver } from '#services/genai/indexing-jobs/shapes.ts'
import { knowledgeBases } from '#services/genai/knowledge-bases/contract.ts'
import { cove, newHome, startCove } from './process.ts'

const files = 40
/** A word that no other file has. */
const wordOf = (at: number) => `uniqueword${String.fromCharCode(97 + (at % 26))}${at}`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cove-documents-'))
  for (let at = 0; at < files; at++)
    writeFileSync(
      join(folder, `${at}.md`),
      `# Chapter ${at}\n\n${'The quick brown fox jumps over the lazy dog near the river bank. '.repeat(40)}\n\n## End\n\nRemember ${wordOf(at)}.\n`,
    )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('kill -9 during ingestion: the job goes on, nothing is doubled and nothing is lost', async () => {
  let running = await startCove(newHome())
  const { home } = running
  const apiOf = ({ url, token }: typeof running) => createApi({ baseUrl: url, token, fetch })
  let api = apiOf(running)
  const { knowledge_base: base } = await api(knowledgeBases.create, {
    body: { name: 'book', datasources: [{ local_folder_data_source: { path: folder } }] },
  })
  const uuid = base.last_indexing_job?.uuid ?? ''
  const indexed = async () => {
    const { job } = await api(indexingJobs.get, { path: { uuid } })
    return { status: job.status, files: Number(job.data_source_jobs[0]?.indexed_file_count ?? 0) }
  }
  let kills = 0
  for (let least = 3; kills < 2; least += 10) {
    let now = await indexed()
    while (now.files < least && !isOver(now.status)) {
      await pause(50)
      now = await indexed()
    }
    if (isOver(now.status)) break
    await running.kill()
    kills++
    running = await startCove(home)
    api = apiOf(running)
  }
  expect(kills).toBeGreaterThan(0)
  let now = await indexed()
  while (!isOver(now.status)) {
    await pause(100)
    now = await indexed()
  }
  expect(now).toEqual({ status: 'INDEX_JOB_STATUS_COMPLETED', files })

  const find = async (query: string) => {
    const { out } = await cove(home, [
      'kb',
      'search',
      'book',
      query,
      '--alpha',
      '0',
      '--json',
      '--results',
      '25',
    ])
    return JSON.parse(out) as { results: { metadata: { path: string } }[] }
  }
  for (const at of [0, 7, 23, files - 1]) {
    const { results } = await find(wordOf(at))
    expect(results.map(({ metadata }) => metadata.path)).toEqual([`${at}.md`])
  }
  const twentyFive = await find('remember')
  expect(new Set(twentyFive.results.map(({ metadata }) => metadata.path)).size).toBe(25)
  await running.stop()
}, 180_000)

test('a person makes, searches, syncs and deletes a knowledge base from the shell', async () => {
  const home = newHome()
  const run = (...args: string[]) => cove(home, ['kb', ...args])
  const small = mkdtempSync(join(tmpdir(), 'cove-documents-'))
  writeFileSync(join(small, 'faq.md'), '# Refunds\n\nMoney goes back within fourteen days.\n')
  writeFileSync(join(small, 'photo.jpg'), 'x')
  const made = await run('create', 'shop', small, '--meta', 'team=sales,year=2026')
  expect(made).toMatchObject({ status: 0 })
  expect(made.err).toContain(
    '1 file indexed (1 new chunk).\n1 skipped:\n  photo.jpg is of a kind that is not read\n',
  )
  expect(made.out).toContain('Search it: cove kb search shop')

  const found = await run('search', 'shop', 'when do I get my cash back')
  expect(found.out).toContain('[1] Refunds (faq.md)\nMoney goes back within fourteen days.')
  const none = await run(
    'search',
    'shop',
    'money',
    '--alpha',
    '0',
    '--filter',
    '{"equals":{"key":"team","value":"x"}}',
  )
  expect(none.out).toBe('No results for "money".\n')
  const wrong = await run('search', 'shop', 'money', '--alpha', '2')
  expect(wrong).toMatchObject({
    status: 1,
    err: expect.stringContaining('alpha must be at most 1'),
  })
  expect((await run('list')).out).toMatch(/^NAME {2}.*\nshop {2}.*completed/)
  expect((await run('show', 'shop')).out).toContain('1 of 2')

  writeFileSync(join(small, 'faq.md'), '# Refunds\n\nVouchers only.\n')
  expect((await run('sync', 'shop')).err).toContain('1 file indexed (1 new chunk)')
  expect((await run('search', 'shop', 'vouchers', '--alpha', '0')).out).toContain('Vouchers only.')
  expect((await run('delete', 'shop')).out).toBe('Knowledge base "shop" is deleted.\n')
  expect(await run('show', 'shop')).toMatchObject({
    status: 1,
    err: expect.stringContaining('was not found'),
  })
  expect((await run('frobnicate')).err).toContain('Say one of: cove kb create')
  await cove(home, ['down'])
  rmSync(small, { recursive: true, force: true })
  rmSync(home, { recursive: true, force: true })
}, 120_000)

test('every example of the documentation does what it says', async () => {
  const text = readFileSync(projectFile('docs/knowledge-bases.md'), 'utf8')
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
      ([, code]) => code ?? '',
    )
  const running = await startCove(newHome())
  const { home, url, token } = running
  const [call = '', filter = ''] = blocks('json')
  expect(() => parseFilter(JSON.parse(filter))).not.toThrow()
  const commands = blocks('sh').flatMap((code) => code.trim().split('\n'))
  expect(commands).toHaveLength(8)
  for (const command of commands) {
    const [, ...words] = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      ([, single, double, bare]) => single ?? double ?? bare ?? '',
    )
    const done = await cove(home, words)
    expect(done, command).toMatchObject({ status: 0 })
    if (words[1] === 'search') expect(done.out, command).toContain('[1] ')
    if (words[1] !== 'create') continue
    const id = /is (\S+)\./.exec(done.out)?.[1] ?? ''
    const response = await fetch(`${url}/v1/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: call.replace('"ID"', JSON.stringify(id)),
    })
    expect(await response.json()).toMatchObject({
      result: { structuredContent: { total_results: 5 } },
    })
  }
  await running.stop()
}, 120_000)
