import { spawn } from 'node:child_process'
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { type Api, createApi } from '#client/client.ts'
import { checkDataset } from '#services/genai/evaluation-datasets/check.ts'
import { datasets } from '#services/genai/evaluation-datasets/contract.ts'
import { metrics } from '#services/genai/evaluation-metrics/contract.ts'
import { modelEvaluations } from '#services/genai/model-evaluations/contract.ts'
import { models } from '#services/genai/models/contract.ts'
import { providers } from '#services/genai/providers/contract.ts'
import { newHome, startCove } from '../test/process.ts'
import { report } from './measure.ts'
import { installPeer } from './peer.ts'

/** Rows of the job, calls at once, and ms that the upstream takes for each. */
const [rows, parallel, latency] = [2000, 32, 50]
const judged = ['Correctness', 'Completeness', 'Tone and clarity']
const small = Number(process.env.ROWS_SMALL ?? 1000)
const large = Number(process.env.ROWS_LARGE ?? 20_000)

/** A process of its own, so that it takes nothing from whom it serves. */
const upstreamProgram = `
const { createServer } = require('node:http')
const latency = Number(process.argv[1])
const server = createServer((request, response) => {
  let text = ''
  request.on('data', (part) => (text += part))
  request.on('end', () => {
    const judging = text.includes('Reply with one JSON object')
    const theirs = text.includes('"pass"') || text.includes('pass:')
    const verdict = theirs ? '{"reason":"fine","pass":true,"score":0.8}' : '{"reasoning":"fine","score":80}'
    const content = judging ? verdict : 'An answer.'
    const body = JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(body), latency)
  })
})
server.keepAliveTimeout = 60000
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

const startUpstream = async (ms: number) => {
  const child = spawn(process.execPath, ['-e', upstreamProgram, String(ms)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data).trim())),
  )
  return { url: `http://127.0.0.1:${port}/v1`, stop: () => child.kill() }
}

const line = (at: number) =>
  JSON.stringify({ input: `What is number ${at}, and why?`, ground_truth: `It is ${at}.` })

/** Uploads a dataset, runs it, and tells the seconds that the run took. */
const evaluate = async (api: Api, count: number, names: readonly string[]) => {
  const text = Array.from({ length: count }, (_, at) => line(at)).join('\n')
  const file_name = 'rows.jsonl'
  const files = [{ file_name, file_size: String(Buffer.byteLength(text)) }]
  const [upload] = (await api(datasets.presignForModels, { body: { files } })).uploads
  await fetch(upload?.presigned_url ?? '', { method: 'PUT', body: text })
  const { evaluation_dataset_uuid: dataset_uuid } = await api(datasets.create, {
    body: {
      name: 'rows',
      dataset_type: 'EVALUATION_DATASET_TYPE_MODEL',
      file_upload_dataset: {
        original_file_name: file_name,
        stored_object_key: upload?.object_key ?? '',
      },
    },
  })
  const [model] = (await api(models.list, {})).models
  const all = (await api(metrics.listForModels, {})).metrics
  const { eval_run_uuid } = await api(modelEvaluations.create, {
    body: {
      name: 'bench',
      candidate_model_name: model?.id ?? '',
      judge_model_uuid: model?.uuid ?? '',
      dataset_uuid,
      metric_uuids: all
        .filter((one) => names.includes(one.metric_name))
        .map((one) => one.metric_uuid),
      limits: { max_parallel: parallel },
    },
  })
  for (;;) {
    const query = { per_page: 1 }
    const { run } = await api(modelEvaluations.get, { path: { eval_run_uuid }, query })
    if (/(SSFUL|FAILED)$/.test(run.status)) {
      if (!run.status.endsWith('_SUCCESSFUL'))
        throw new Error(`${run.status}: ${run.error_description}`)
      return (Date.parse(run.completed_at ?? '') - Date.parse(run.started_at ?? '')) / 1000
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const openCove = async (url: string) => {
  const running = await startCove(newHome())
  const api = createApi({ baseUrl: running.url, token: running.token, fetch })
  await api(providers.put, { path: { name: 'p' }, body: { base_url: url, models: [{ id: 'm' }] } })
  return { running, api }
}

/** The most memory the process ever had, in MB. */
const peak = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** What the process used of the processors, which a busy machine changes less than its time. */
const processorSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

const job = async () => {
  const upstream = await startUpstream(latency)
  const { running, api } = await openCove(upstream.url)
  await evaluate(api, 50, judged)
  const before = processorSeconds(running.child.pid ?? 0)
  const ours = await evaluate(api, rows, judged)
  const spent = processorSeconds(running.child.pid ?? 0) - before
  await running.stop()
  const theirs = await promptfoo(upstream.url)
  upstream.stop()
  return { ours, theirs, spent, ideal: (rows * (1 + judged.length) * latency) / parallel / 1000 }
}

/** The same job by the peer's own library: every row answered once and graded by three rubrics. */
const promptfooProgram = `
const promptfoo = require(process.argv[1])
const job = JSON.parse(process.argv[2])
const provider = { id: 'openai:chat:m', config: { apiBaseUrl: job.url, apiKey: 'x' } }
const started = performance.now()
promptfoo.evaluate({
  prompts: ['{{input}}'],
  providers: [provider],
  writeLatestResults: false,
  defaultTest: {
    options: { provider },
    assert: job.metrics.map((name) => ({ type: 'llm-rubric', value: 'Reply with one JSON object: ' + name })),
  },
  tests: Array.from({ length: job.rows }, (_, at) => ({ vars: { input: 'What is number ' + at + ', and why?' } })),
}, { maxConcurrency: job.parallel, showProgressBar: false, cache: false }).then(async (done) => {
  const seconds = (performance.now() - started) / 1000
  const { stats } = await done.toEvaluateSummary()
  console.log('RESULT ' + JSON.stringify({ seconds, successes: stats.successes }))
  process.exit(0)
})
`

const promptfoo = async (url: string): Promise<number> => {
  // Its database is built when it is installed and is not used here.
  const program = join(installPeer('promptfoo@0.118.0'), 'promptfoo')
  const folder = mkdtempSync(join(tmpdir(), 'cove-bench-promptfoo-'))
  const task = JSON.stringify({ url, rows, parallel, metrics: judged })
  const child = spawn(process.execPath, ['-e', promptfooProgram, program, task], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 240_000,
    env: {
      ...process.env,
      PROMPTFOO_CONFIG_DIR: folder,
      PROMPTFOO_DISABLE_TELEMETRY: '1',
      PROMPTFOO_DISABLE_UPDATE: '1',
    },
  })
  let said = ''
  for await (const data of child.stdout) said += data
  rmSync(folder, { recursive: true, force: true })
  const result = JSON.parse(/RESULT (.*)/.exec(said)?.[1] ?? 'null')
  if (result?.successes !== rows)
    throw new Error(`promptfoo did not do the job: ${said.slice(-500)}`)
  return result.seconds
}

/** Peak memory of a fresh Cove over few and over many rows. */
const memory = async (): Promise<[few: number, many: number]> => {
  const upstream = await startUpstream(0)
  const peaks = []
  for (const count of [small, large]) {
    const { running, api } = await openCove(upstream.url)
    await evaluate(api, count, ['Correctness', 'Token F1'])
    peaks.push(peak(running.child.pid ?? 0))
    await running.stop()
  }
  upstream.stop()
  return peaks as [number, number]
}

const csv = async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'cove-bench-csv-')), 'rows.csv')
  const rowsOfFile = Array.from(
    { length: 1000 },
    (_, at) => `"What is, exactly, ""TLS ${at}""?",It is a protocol that keeps secrets.`,
  ).join('\n')
  writeFileSync(path, `input,ground_truth\n${`${rowsOfFile}\n`.repeat(1000)}`)
  const timed = async (work: () => Promise<unknown>) => {
    const started = performance.now()
    await work()
    return (performance.now() - started) / 1000
  }
  const bare = async () => {
    const parser = parse()
    parser.resume()
    await pipeline(createReadStream(path), parser)
  }
  const checked = () => checkDataset(createReadStream(path), 'rows.csv', 'model')
  await timed(checked)
  const theirs = await timed(bare)
  const ours = await timed(checked)
  rmSync(path)
  return { ours, theirs }
}

const parts = process.argv.slice(2)
const wanted = (part: string) => parts.length === 0 || parts.includes(part)

if (wanted('csv')) {
  const { ours, theirs } = await csv()
  report('A million rows of CSV', [
    {
      what: 'rows/s checked / by the bare parser (csv-parse)',
      ours: 1e6 / ours,
      theirs: 1e6 / theirs,
      unit: 'rows/s',
      atLeast: 0.5,
    },
  ])
}
if (wanted('job')) {
  const { ours, theirs, ideal, spent } = await job()
  report(`${rows} rows × ${judged.length} metrics, ${latency} ms a call, ${parallel} at once`, [
    { what: 'seconds / the ideal', ours, theirs: ideal, unit: 's', atMost: 1.25 },
    { what: 'seconds / promptfoo', ours, theirs, unit: 's', atMost: 1 },
    { what: 'processor seconds / the ideal', ours: spent, theirs: ideal, unit: 's' },
  ])
}
if (wanted('memory')) {
  const [few, many] = await memory()
  report('Memory', [
    {
      what: `peak with ${large} rows / with ${small}`,
      ours: many,
      theirs: few,
      unit: 'MB',
      atMost: 1.3,
    },
  ])
}
