import type { Endpoint } from '../endpoint.ts'
import { responseFromChat } from '../responses/answer.ts'
import { chatRequest } from '../responses/request.ts'
import { responseEvents } from '../responses/stream.ts'
import {
  type CallLimits,
  callOnce,
  type Streamed,
  type Upstream,
  type UpstreamRequest,
  type Whole,
} from './call.ts'
import { Failure } from './failure.ts'

/** What is known to be missing at an endpoint, by its key. */
export interface Lacks {
  /** It refuses to report usage in a stream. */
  usage: Set<string>
  /** It has no responses, only chat completions. */
  responses: Set<string>
}

export type AskOnce = (
  endpoint: Endpoint,
  request: UpstreamRequest,
  limits: CallLimits,
  signal: AbortSignal,
) => Promise<Whole | Streamed>

/**
 * Asks one model, in the way that its provider understands: one that does not know how to report
 * usage in a stream, or has no responses, is asked without, then and from now on.
 */
export const createAsk = (upstream: Upstream): AskOnce => {
  const lacks: Lacks = { usage: new Set(), responses: new Set() }

  const plainly: AskOnce = async (endpoint, request, limits, signal) => {
    const plain = { ...request, quietUsage: false }
    if (!request.quietUsage || lacks.usage.has(endpoint.key))
      return callOnce(upstream, endpoint, plain, limits, signal)
    try {
      return await callOnce(upstream, endpoint, request, limits, signal)
    } catch (error) {
      const refused = error instanceof Failure && error.kind === 'bad_request'
      if (!refused || !/stream_options|include_usage/.test(error.body ?? '')) throw error
      lacks.usage.add(endpoint.key)
      return callOnce(upstream, endpoint, plain, limits, signal)
    }
  }

  const asChat: AskOnce = async (endpoint, request, limits, signal) => {
    const body = chatRequest(request.body)
    const asked = {
      ...request,
      surface: 'chat/completions',
      body,
      quietUsage: request.stream,
    } as const
    const answer = await plainly(endpoint, asked, limits, signal)
    if (answer.stream) {
      const events = () => responseEvents(request.body, answer.events(), answer.reading)
      return { ...answer, events }
    }
    const json = responseFromChat(request.body, answer.json, answer.usage)
    return { ...answer, json, text: JSON.stringify(json) }
  }

  return async (endpoint, request, limits, signal) => {
    if (request.surface !== 'responses') return plainly(endpoint, request, limits, signal)
    if (lacks.responses.has(endpoint.key)) return asChat(endpoint, request, limits, signal)
    try {
      return await plainly(endpoint, request, limits, signal)
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'not_found') throw error
      const answer = await asChat(endpoint, request, limits, signal)
      lacks.responses.add(endpoint.key)
      return answer
    }
  }
}
