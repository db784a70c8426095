import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCove } from '../process.ts'
import { startProxy } from './proxy.ts'
import { installSuite, runScenario, runSuite } from './runner.ts'
import { startServer } from './server.ts'

/** The revisions the suite has scenarios for; 2024-11-05 is older than the suite. */
const versions = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const token = 'a-token-of-the-suite'

describe('the conformance suite of the protocol', () => {
  let url = ''
  const stops: (() => void)[] = []

  beforeAll(async () => {
    await installSuite()
    const server = await startServer(token)
    const proxy = await startProxy(server.port, token)
    stops.push(proxy.stop, server.stop)
    url = `http://localhost:${proxy.port}/mcp`
  }, 300_000)
  afterAll(() => {
    for (const stop of stops) stop()
  })

  test.each(versions)(
    'finds nothing against the server in %s',
    async (version) => {
      const { code, report } = await runSuite(url, version)
      expect(report).toContain(', 0 failed')
      expect(code, report).toBe(0)
    },
    60_000,
  )

  test('finds only what is listed when extensions are asked for too', async () => {
    const { code, report } = await runSuite(url)
    expect(report).toContain('tasks-lifecycle')
    expect(code, report).toBe(0)
  }, 60_000)

  describe('against the knowledge base endpoint, which has one tool and nothing else', () => {
    let endpoint = ''

    beforeAll(async () => {
      const running = await startCove()
      const proxy = await startProxy(Number(new URL(running.url).port), running.token)
      stops.push(proxy.stop, () => void running.stop())
      endpoint = `http://localhost:${proxy.port}/v1/mcp`
    }, 60_000)

    test.each(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'])(
      'passes %s',
      async (scenario) => {
        const { code, report } = await runScenario(endpoint, scenario)
        expect(code, report).toBe(0)
      },
      60_000,
    )
  })
})
