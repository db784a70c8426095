import { describe, expect, test } from 'vitest'
import { assistant } from './assistant.ts'
import { calls } from './calls.ts'
import type { Asked } from './cloud.ts'
import { refused } from './faults.ts'

const argsOf = (tool: string) => calls.find(([name]) => name === tool)?.[1] ?? {}
const what = ({ method, path }: Asked) => `${method} ${path}`

/** Tools of several calls, and a call each may do without: an account need not have imported models. */
const several: [tool: string, spared?: string][] = [
  ['db-cluster-resize'],
  ['db-cluster-update-user'],
  ['db-cluster-update-redis-config'],
  ['load-balancer-update'],
  ['functions-update-trigger'],
  ['functions-delete-access-key'],
  ['functions-list-actions'],
  ['functions-create-or-update-action'],
  ['functions-delete-package'],
  ['genai-create-evaluation-dataset'],
  ['genai-model-eval-create-dataset'],
  ['genai-run-evaluation-workflow'],
  ['genai-model-eval-create-run', 'GET /v2/gen-ai/custom_models'],
  ['genai-model-eval-run-workflow', 'GET /v2/gen-ai/custom_models'],
]

describe.each(several)('%s', (tool, spared) => {
  test('tells of a fault at each of its steps, and goes no further', async () => {
    const happy = await assistant()
    expect(await happy.call(tool, argsOf(tool))).toMatchObject({ failed: false })
    await happy.close()
    const steps = happy.asked.map(what)
    expect(steps.length).toBeGreaterThan(1)
    for (const [index, step] of steps.entries()) {
      if (step === spared) continue
      let failing: string | undefined
      const { call, asked, close } = await assistant({
        fault: (seen, number) => {
          if (number > index) failing ??= what(seen)
          return what(seen) === failing ? refused(422, `no ${step}`) : undefined
        },
      })
      const { failed, text } = await call(tool, argsOf(tool))
      await close()
      expect(failed, step).toBe(true)
      expect(text).toContain('no ')
      // Only what undoes an earlier step may follow the fault.
      const after = asked.map(what).slice(asked.map(what).indexOf(failing ?? '') + 1)
      expect(after.filter((next) => next !== failing && !next.startsWith('DELETE'))).toEqual([])
    }
  })
})

test.each([
  ['genai-run-evaluation-workflow', 'POST /v2/gen-ai/evaluation_test_cases', 4],
  ['genai-model-eval-run-workflow', 'POST /v2/gen-ai/model_evaluation_runs', 5],
])('%s takes its dataset back when %s fails', async (tool, step, number) => {
  const { call, asked, close } = await assistant({
    fault: (seen) => (what(seen) === step ? refused(422, 'no room') : undefined),
    answers: {
      'GET /v2/gen-ai/evaluation_test_cases': (usual: object) => ({
        ...usual,
        evaluation_test_cases: [],
      }),
    },
  })
  const { text } = await call(tool, argsOf(tool))
  await close()
  expect(JSON.parse(text)).toEqual({ error: expect.stringContaining(`step ${number}: no room`) })
  expect(what(asked.at(-1) as Asked)).toBe('DELETE /v2/gen-ai/evaluation_datasets/:dataset_uuid')
})

test('a change of a load balancer sends back all that it does not change', async () => {
  const { call, asked, wrong, close } = await assistant()
  await call('load-balancer-update', { ...argsOf('load-balancer-update'), SizeUnit: 3 })
  await close()
  expect(wrong).toEqual([])
  expect(asked.at(-1)?.body).toMatchObject({
    name: 'web-2',
    size_unit: 3,
    tls_cipher_policy: 'STRONG',
    redirect_http_to_https: true,
    droplet_ids: [3164444],
    firewall: { deny: ['cidr:198.51.100.0/24'] },
    health_check: { path: '/health', healthy_threshold: 5 },
    forwarding_rules: [{ certificate_id: expect.any(String) }],
  })
})
