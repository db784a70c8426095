import type { Asked } from './cloud.ts'
import { stamp } from './sample.ts'

export const dataPlaneHost = 'faas.example'
export const uploadHost = 'bucket.example'

const action = {
  namespace: 'fn-1',
  name: 'hello',
  version: '0.0.1',
  publish: false,
  exec: { kind: 'nodejs:20', binary: false },
  annotations: [],
  parameters: [],
  limits: { timeout: 60_000, memory: 256, logs: 10, concurrency: 1 },
  updated: Date.parse(stamp),
}
const activation = {
  namespace: 'fn-1',
  name: 'hello',
  version: '0.0.1',
  publish: false,
  activationId: 'a'.repeat(32),
  start: 1,
  end: 2,
  duration: 1,
  logs: ['hi'],
  annotations: [],
  response: { status: 'success', success: true, result: { greeting: 'hi' } },
}
const pack = { namespace: 'fn-1', name: 'tools', version: '0.0.1', publish: false, binding: {} }

/** The bare answers of a namespace's own API, by the first part of the path. */
const answers: Record<string, unknown> = {
  actions: action,
  packages: pack,
  activations: activation,
}

/** A namespace's own API and the place that files are sent to: other hosts, and never the token. */
export const dataPlane = (request: Request, { method, path, query }: Asked) => {
  const { host, pathname } = new URL(request.url)
  const given = request.headers.get('authorization') ?? ''
  if (host === uploadHost)
    return {
      response: new Response(null, { status: 200 }),
      problem: given ? 'the upload carried a credential' : undefined,
    }
  const [kind = '', name, part] = pathname.split('/').slice(5)
  return {
    response: Response.json(answerTo(method, kind, name, part)),
    problem: problemOf(given, path, query),
  }
}

const answerTo = (method: string, kind: string, name?: string, part?: string): unknown => {
  if (name === undefined) return [answers[kind]]
  if (kind === 'activations' && part)
    return part === 'logs' ? { logs: ['hi'] } : activation.response
  return method === 'POST' ? activation : answers[kind]
}

const problemOf = (given: string, path: string, query: Record<string, string>) => {
  if (!given.startsWith('Basic ')) return 'the data plane was called without its key'
  if (!/^\/api\/v1\/namespaces\/fn-[^/]+\/(actions|packages|activations)/.test(path))
    return `${path} is no path of the data plane`
  const known =
    /^(limit|skip|public|code|overwrite|force|blocking|result|timeout|name|since|upto|docs)$/
  const stray = Object.keys(query).find((name) => !known.test(name))
  return stray && `${stray} is no query of the data plane`
}
