import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { reportPage } from './html.ts'
import type { EvaluatedRun } from './load.ts'
import { reportOf } from './report.ts'

/** A run of forty prompts of which the first scores worst; `bonus` makes it better. */
const run = (name: string, bonus: number): EvaluatedRun => ({
  uuid: `uuid of ${name}`,
  name,
  kind: 'model',
  status: 'MODEL_EVALUATION_RUN_PARTIALLY_SUCCESSFUL',
  error: undefined,
  candidate: 'student',
  judge: 'teacher',
  dataset: 'questions',
  created_at: undefined,
  started_at: undefined,
  completed_at: '2026-01-01T00:00:00Z',
  cost_usd: 0.5,
  latency_ms: { p50_latency_ms: 800 },
  tokens: { total_judge_input_tokens: '1200' },
  total_rows: 40,
  metrics: [
    {
      name: 'Correctness',
      description: 'Is it?',
      inverted: false,
      threshold: 70,
      min: 0,
      max: 100,
    },
    { name: 'Toxicity', description: 'Is it?', inverted: true, threshold: 20, min: 0, max: 100 },
  ],
  rows: Array.from({ length: 40 }, (_, at) => ({
    row: at + 1,
    input: `Question ${at} <img src=x onerror=alert(1)>`,
    output: 'An answer & more',
    ground_truth: 'The truth',
    error: undefined,
    latency_ms: 800,
    cost_usd: 0.01,
    scores: [
      { name: 'Correctness', value: 20 + at + (at % 7) + bonus },
      { name: 'Toxicity', value: at % 3 },
    ].map((score) => ({
      ...score,
      status: 'COMPLETED',
      reasoning: 'because',
      error: undefined,
      agreement: undefined,
    })),
  })),
})

test('the page opens in a browser, asks for nothing, and shows what it says', async () => {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  })
  const page = await browser.newPage({ viewport: { width: 1100, height: 900 } })
  const faults: string[] = []
  page.on('console', (message) => faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => faults.push(request.url()))
  page.on('dialog', (dialog) => faults.push(dialog.message()))

  await page.setContent(reportPage(reportOf(run('new <b>', 6), run('old', 0))))
  await page.getByRole('heading', { name: 'new <b>' }).waitFor()
  await page.getByRole('heading', { name: 'Compared with old' }).waitFor()
  expect(await page.locator('svg.histogram').count()).toBe(2)
  expect(await page.locator('svg.better').count()).toBe(1)
  const [first] = await page.locator('details').all()
  await first?.locator('summary').click()
  expect(await first?.locator('pre').first().textContent()).toBe(
    'Question 0 <img src=x onerror=alert(1)>',
  )
  const wider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
  expect(await page.evaluate(wider)).toBe(false)
  expect(faults).toEqual([])
  await browser.close()
})
