import { afterAll, describe, expect, test } from 'vitest'
import type { CallSettings } from '#mcp/calls.ts'
import { allTools } from '#services/catalogue.ts'
import { spec } from '../spec/spec.ts'
import { assistant } from './assistant.ts'
import { calls } from './calls.ts'
import type { Asked } from './cloud.ts'
import { cut, never, refused } from './faults.ts'

interface Failure {
  answer: (asked: Asked) => Response | Promise<Response>
  says: RegExp
  /** What to do next. */
  advises?: RegExp
  settings?: Partial<CallSettings>
  /** Only by one tool of each service: what it proves is the same for all. */
  sampled?: true
}

const failures: Record<string, Failure> = {
  'a missing scope': {
    answer: () => refused(403, 'You are not authorized'),
    says: /You are not authorized.*HTTP 403.*request-of-the-fault/s,
    advises: /scope [a-z_-]+:[a-z_]+\./,
  },
  'a rate limit': {
    answer: () => refused(429, 'Too many requests', { 'retry-after': '60' }),
    says: /Too many requests/,
    advises: /again in 60 s, at \d{4}-/,
  },
  'an answer that breaks off': { answer: cut, says: /could not be reached/ },
  'no answer': {
    answer: never,
    says: /did not answer within 0.005 s/,
    settings: { timeout: 5, attempts: 2 },
  },
  'a refusal': {
    answer: () => refused(422, 'size is wrong'),
    says: /size is wrong/,
    sampled: true,
  },
  'a wrong token': {
    answer: () => refused(401, 'Unable to authenticate you'),
    says: /Unable to authenticate you/,
    advises: /Check the token/,
    sampled: true,
  },
  'a broken server': {
    answer: () => refused(500, 'Something failed'),
    says: /Something failed/,
    sampled: true,
  },
  'an error page': {
    answer: () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
    says: /status 502/,
    sampled: true,
  },
  'an answer that is no JSON': {
    answer: () => new Response('hello'),
    says: /text that is not JSON/,
    sampled: true,
  },
}

/** This one asks nothing of the cloud. */
const remote = calls.filter(([tool]) => tool !== 'functions-deployment-guide')
const some = Object.values(spec).map((tools) => Object.keys(tools)[0])

describe.each(Object.entries(failures))('%s', async (_, failure) => {
  const { answer, says, advises, settings = {}, sampled } = failure
  const { call, asked, wrong, close } = await assistant({ fault: answer }, settings)
  afterAll(close)

  test.each(remote.filter(([tool]) => !sampled || some.includes(tool)))(
    'is told by %s',
    async (tool, args) => {
      asked.length = 0
      const { failed, text, notes } = await call(tool, args)
      expect(failed).toBe(true)
      expect(text).toMatch(says)
      expect(wrong).toEqual([])
      if (advises) expect(notes.join('\n')).toMatch(advises)
      // What may have been done is not sent twice.
      if (asked.length > 1 && asked.every(({ path }) => path === asked[0]?.path))
        expect(asked[0]?.method).toMatch(/GET|PUT|DELETE/)
    },
  )
})

test('an unknown id leads to the tool that lists them', async () => {
  const { call, close } = await assistant({ fault: () => refused(404, 'no such thing') })
  const advice = async (tool: string) => {
    const [, args] = calls.find(([name]) => name === tool) ?? []
    return (await call(tool, args)).notes.join()
  }
  expect(await advice('domain-record-get')).toContain('domain-record-list shows')
  expect(await advice('db-cluster-get')).toContain('db-cluster-list shows')
  expect(await advice('db-cluster-get-topic')).toContain('db-cluster-list-topics shows')
  expect(await advice('functions-get-trigger')).toContain('functions-list-triggers shows')
  expect(await advice('load-balancer-delete-cache')).toContain('load-balancer-list shows')
  expect(await advice('genai-get-evaluation-run')).toContain('The matching list tool shows')
  await close()
})

test('every tool is called here', () => {
  expect(calls.map(([tool]) => tool).sort()).toEqual(Object.keys(allTools).sort())
})
