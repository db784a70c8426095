import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelEvaluations, type RunDetail } from '#services/genai/model-evaluations/contract.ts'
import { models } from '#services/genai/models/contract.ts'
import { providers } from '#services/genai/providers/contract.ts'
import { json, type Received, type Reply, scriptedUpstream } from './upstream.ts'
import { type World, type WorldOptions, world } from './world.ts'

/** The last thing a model was told. */
export const said = ({ body }: Received): string => {
  const messages = body.messages as { content: string }[]
  return messages.at(-1)?.content ?? ''
}

/** A chat completion with a text in it. */
export const completes =
  (text: string, tokens = { prompt_tokens: 100, completion_tokens: 10 }): Reply =>
  (response, { body }) =>
    json(response, {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: body.model,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { ...tokens, total_tokens: tokens.prompt_tokens + tokens.completion_tokens },
    })

/** A judge that likes responses with the word "right" in them. */
export const fairJudge: Reply = (response, received) => {
  const text = said(received)
  const good = /The response:\n=+\w+=+\n[^=]*right/.test(text)
  return completes(
    JSON.stringify({ reasoning: good ? 'It is right.' : 'It is not.', score: good ? 90 : 20 }),
  )(response, received)
}

export interface EvaluationWorld extends World {
  candidate: Awaited<ReturnType<typeof scriptedUpstream>>
  judge: Awaited<ReturnType<typeof scriptedUpstream>>
  /** A file with this content. */
  file(name: string, text: string): string
  metric(name: string): Promise<string>
  uuidOf(model: string): Promise<string>
  /** Starts a model evaluation of a JSONL dataset by the tools, and answers its uuid. */
  start(rows: object[], more?: Record<string, unknown>): Promise<string>
  /** Lets time pass until the run is over, or what is waited for. */
  over(uuid: string, until?: (run: Run) => boolean): Promise<Run>
}

type Run = RunDetail

/** A Cove that knows two models of scripted providers: `student` answers, `teacher` judges. */
export const evaluationWorld = async (options: WorldOptions = {}): Promise<EvaluationWorld> => {
  const cove = await world(options)
  const folder = mkdtempSync(join(tmpdir(), 'cove-evaluation-'))
  const candidate = await scriptedUpstream(completes('That is right.'))
  const judge = await scriptedUpstream(fairJudge)
  const declare = (name: string, url: string, id: string) =>
    cove.api(providers.put, {
      path: { name },
      body: { base_url: url, models: [{ id, price_in: 10, price_out: 20 }] },
    })
  // The first model judges agents.
  await declare('university', judge.url, 'teacher')
  await declare('school', candidate.url, 'student')

  /** Time runs a hundred times faster, while real requests are answered in real time. */
  const hurry = setInterval(() => cove.clock.advance(options.realTime ? 0 : 500), 5)

  const file: EvaluationWorld['file'] = (name, text) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const metric = async (name: string) => {
    const { metrics } = await cove.tool('genai-model-eval-list-metrics')
    const found = (metrics as { metric_name: string; metric_uuid: string }[]).find(
      ({ metric_name }) => metric_name === name,
    )
    if (!found) throw new Error(`no metric ${name}`)
    return found.metric_uuid
  }
  const uuidOf = async (model: string) => {
    const { models: known } = await cove.api(models.list, {})
    return known.find(({ id }) => id === model)?.uuid ?? ''
  }

  return {
    ...cove,
    candidate,
    judge,
    file,
    metric,
    uuidOf,
    start: async (rows, more = {}) => {
      const text = rows.map((row) => JSON.stringify(row)).join('\n')
      const { dataset_uuid } = await cove.tool('genai-model-eval-create-dataset', {
        name: 'questions',
        file_path: file('questions.jsonl', text),
      })
      const body = {
        name: 'exam',
        candidate_model_name: 'student',
        judge_model_uuid: await uuidOf('teacher'),
        dataset_uuid: String(dataset_uuid),
        metric_uuids: [await metric('Correctness')],
        ...more,
      }
      return (await cove.api(modelEvaluations.create, { body })).eval_run_uuid
    },
    over: async (
      eval_run_uuid,
      until = ({ status }) => /(SSFUL|FAILED|CANCELLED)$/.test(status),
    ) => {
      for (let look = 0; look < 1500; look++) {
        const { run } = await cove.api(modelEvaluations.get, { path: { eval_run_uuid } })
        if (until(run)) return run
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      throw new Error('The run does not get there.')
    },
    close: async () => {
      clearInterval(hurry)
      await cove.close()
      await candidate.close()
      await judge.close()
    },
  }
}
