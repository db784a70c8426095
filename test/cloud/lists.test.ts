import { expect, test } from 'vitest'
import { assistant } from './assistant.ts'

const domains = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `site-${index}.example`,
    ttl: 1800,
    zone_file: '$ORIGIN example.'.repeat(10),
  }))

const listing = (count: number, total: number) => ({
  'GET /v2/domains': (usual: object) => ({ ...usual, domains: domains(count), meta: { total } }),
})

test('a list says how many there are and how to get the next page', async () => {
  const { call, wrong, close } = await assistant({ answers: listing(20, 57) })
  expect((await call('domain-list')).notes).toEqual([
    'Note: 20 of 57 are shown: Page 2 has the next.',
  ])
  const { notes } = await call('domain-list', { Page: 2 })
  expect(notes).toEqual(['Note: 20 of 57 are shown: Page 3 has the next.'])
  expect(wrong).toEqual([])
  await close()
})

test('the last page says nothing more', async () => {
  const { call, close } = await assistant({ answers: listing(17, 57) })
  expect((await call('domain-list', { Page: 3 })).notes).toEqual([])
  await close()
})

test('a list without a total says that there may be more', async () => {
  const { call, close } = await assistant()
  const notes = async (args: object) =>
    (await call('functions-list-actions', { NamespaceID: 'fn-1', ...args })).notes
  expect(await notes({ Limit: 1, Skip: 4 })).toEqual([
    'Note: There may be more: Skip 5 has the next.',
  ])
  expect(await notes({})).toEqual([])
  await close()
})

test('a long answer is cut between items, stays JSON, and says how to narrow it', async () => {
  const { call, close } = await assistant({ answers: listing(200, 200) }, { answerLimit: 4000 })
  const { failed, text, notes, value } = await call('domain-list', { PerPage: 200 })
  expect(failed).toBe(false)
  const kept = value.domains as object[]
  expect(JSON.parse(text)).toEqual(value)
  expect(JSON.stringify(value).length).toBeLessThanOrEqual(4000)
  expect(kept).toEqual(domains(200).slice(0, kept.length))
  expect(kept.length).toBeGreaterThan(5)
  expect(notes.join()).toContain(`domains holds the first ${kept.length} of 200 items`)
  await close()
})

test('nothing that the cloud adds is dropped', async () => {
  const { call, close } = await assistant({ style: 'odd' })
  for (const tool of ['domain-list', 'vpc-list', 'action-list', 'load-balancer-list'])
    expect((await call(tool)).text).toContain('x_added_later')
  await close()
})
