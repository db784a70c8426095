import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { completes, said } from './evaluation.ts'
import { cleanEnv, cove, launcher, newHome, type Running, startCove } from './process.ts'
import { type ScriptedUpstream, scriptedUpstream } from './upstream.ts'

const document = readFileSync(projectFile('docs/evaluations.md'), 'utf8')
const blocks = [...document.matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text)

let acme: ScriptedUpstream
let running: Running
const folder = mkdtempSync(join(tmpdir(), 'cove-evaluations-docs-'))

beforeAll(async () => {
  acme = await scriptedUpstream((response, received) => {
    const text = said(received)
    const judging = text.includes('Reply with one JSON object')
    const verdict = text.includes('"winner"')
      ? { winner: 'tie' }
      : { score: /Paris/.test(text) ? 95 : 30 }
    return completes(judging ? JSON.stringify({ reasoning: 'so <it> is', ...verdict }) : 'Paris')(
      response,
      received,
    )
  })
  running = await startCove(newHome())
})
afterAll(async () => {
  await running.stop()
  await acme.close()
})

const shell = async (script: string) => {
  const here = script
    .replaceAll('https://api.acme.example/v1', acme.url)
    .replaceAll('https://agent.acme.example/v1', acme.url)
  const program = `cove() { '${process.execPath}' '${launcher}' "$@"; }\n${here}`
  const env = cleanEnv(running.home, { COVE_TOKEN: running.token })
  return (await promisify(execFile)('bash', ['-ec', program], { cwd: folder, env })).stdout
}
const written = (name: string) => readFileSync(join(folder, name), 'utf8')

test('the page works as it is written, from the models to the reports', async () => {
  const [models = '', preview = '', start = '', agent = '', reports = ''] = blocks
  await shell(models)
  expect(await shell(preview)).toMatch(
    /consent_required.*prompt_for_user.*26 model calls \(2 to the candidate, 24 to the judge\)/s,
  )
  expect(acme.received).toEqual([])

  const listed = await shell(start)
  expect(listed).toContain('"status": "MODEL_EVALUATION_RUN_SUCCESSFUL"')
  expect(listed).toMatch(/model\s+first-look\s+MODEL_EVALUATION_RUN_SUCCESSFUL\s+student/)

  const evaluated = await shell(agent)
  expect(evaluated).toMatch(/support-v2\s+helpdesk\s+http\S+\s+support/)
  expect(evaluated).toContain('"status": "EVALUATION_RUN_SUCCESSFUL"')

  await shell(reports)
  const page = written('report.html')
  expect(page).toMatch(/^<!doctype html>/)
  expect(page).not.toMatch(/<script|https?:\/\/(?!127)/)
  expect(page).toContain('so &lt;it&gt; is')
  const report = JSON.parse(written('report.json'))
  expect(report.metrics.find(({ name }: { name: string }) => name === 'Exact match')).toMatchObject(
    {
      mean: 50,
      pass_share: 0.5,
      scored: 2,
    },
  )
  expect(report.comparison.metrics[0]).toMatchObject({ difference: 0, p: 1, pairs: 2 })
  expect(written('report.csv')).toMatch(
    /^row,input,output,ground_truth,.*Correctness.*\r\n1,What is the capital of France\?,Paris,Paris,/,
  )
}, 60_000)

test('the commands say what is missing', async () => {
  const env = { COVE_TOKEN: running.token }
  const cases: [string[], RegExp][] = [
    [['evals'], /Say one of: cove evals list/],
    [['evals', 'report', 'x'], /Say one of --html, --json and --csv/],
    [['evals', 'report', 'x', '--json'], /Evaluation run x was not found/],
    [['evals', 'resume', 'x', '--max-cost', 'much'], /--max-cost must be an amount/],
    [['agents', 'add', 'x'], /Say one of: cove agents add/],
    [['agents', 'remove', 'nobody'], /There is no deployment nobody/],
  ]
  for (const [args, message] of cases) {
    const { status, err } = await cove(running.home, args, env)
    expect(err).toMatch(message)
    expect(status).not.toBe(0)
  }
  const removed = await cove(running.home, ['agents', 'remove', 'support-v2'], env)
  expect(removed.out).toBe('support-v2 is removed.\n')
}, 30_000)
