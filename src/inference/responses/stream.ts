import type { Tokens } from '../endpoint.ts'
import { createEvents, dataOf } from '../upstream/events.ts'
import type { StreamReading } from '../upstream/reading.ts'
import { callItem, messageItem, responseOf, textPart } from './answer.ts'

type Json = Readonly<Record<string, unknown>>

interface Delta {
  content?: string | null
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[]
}

interface Chunk {
  id?: string
  created?: number
  model?: string
  choices?: { delta?: Delta; finish_reason?: string | null }[]
}

interface Call {
  at: number
  item: string
  id: string
  function: { name: string; arguments: string }
}

/** The events of a chat completion as the events of a response. */
export async function* responseEvents(
  body: Json,
  chunks: AsyncGenerator<Buffer, void, undefined>,
  reading: Pick<StreamReading, 'usage'>,
): AsyncGenerator<Buffer, void, undefined> {
  const events = createEvents()
  const translator = createTranslator(body)
  for await (const bytes of chunks) {
    const said = events
      .push(bytes)
      .map(dataOf)
      .filter((data) => data.startsWith('{'))
      .flatMap((data) => translator.read(JSON.parse(data) as Chunk))
    if (said.length > 0) yield Buffer.from(said.join(''))
  }
  yield Buffer.from(translator.end(reading.usage).join(''))
}

const createTranslator = (body: Json) => {
  const facts = { id: '', created: 0, model: '', finish: null as string | null, usage: undefined }
  const calls = new Map<number, Call>()
  let text: { at: number; item: string; said: string } | undefined
  let outputs = 0
  let sequence = 0

  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`
  const begin = (chunk: Chunk): string[] => {
    Object.assign(facts, {
      id: `resp_${chunk.id ?? 'chat'}`,
      created: chunk.created ?? 0,
      model: chunk.model ?? '',
    })
    const response = responseOf(body, { ...facts, output: [] })
    return [event('response.created', { response }), event('response.in_progress', { response })]
  }

  const write = (delta: string): string[] => {
    const said: string[] = []
    if (!text) {
      text = { at: outputs++, item: `msg_${facts.id}`, said: '' }
      const place = { output_index: text.at, content_index: 0, item_id: text.item }
      const item = messageItem(text.item, '', 'in_progress')
      said.push(event('response.output_item.added', { output_index: text.at, item }))
      said.push(event('response.content_part.added', { ...place, part: textPart('') }))
    }
    text.said += delta
    const place = { output_index: text.at, content_index: 0, item_id: text.item }
    said.push(event('response.output_text.delta', { ...place, delta, logprobs: [] }))
    return said
  }

  const call = (part: NonNullable<Delta['tool_calls']>[number]): string[] => {
    const said: string[] = []
    const index = part.index ?? 0
    let known = calls.get(index)
    if (!known) {
      const item = `fc_${facts.id}_${index}`
      const name = part.function?.name ?? ''
      known = { at: outputs++, item, id: part.id ?? item, function: { name, arguments: '' } }
      calls.set(index, known)
      const shown = callItem(item, known, 'in_progress')
      said.push(event('response.output_item.added', { output_index: known.at, item: shown }))
    }
    const delta = part.function?.arguments ?? ''
    known.function.arguments += delta
    if (delta) {
      const place = { output_index: known.at, item_id: known.item }
      said.push(event('response.function_call_arguments.delta', { ...place, delta }))
    }
    return said
  }

  return {
    read: (chunk: Chunk): string[] => {
      const said = facts.id === '' ? begin(chunk) : []
      const choice = chunk.choices?.[0]
      if (choice?.delta?.content) said.push(...write(choice.delta.content))
      for (const part of choice?.delta?.tool_calls ?? []) said.push(...call(part))
      if (choice?.finish_reason) facts.finish = choice.finish_reason
      return said
    },
    /** What closes the items, and the response. */
    end: (usage: Tokens | undefined): string[] => {
      const output: object[] = []
      const said: string[] = []
      if (text) {
        const place = { output_index: text.at, content_index: 0, item_id: text.item }
        const item = messageItem(text.item, text.said, 'completed')
        output[text.at] = item
        said.push(event('response.output_text.done', { ...place, text: text.said, logprobs: [] }))
        said.push(event('response.content_part.done', { ...place, part: textPart(text.said) }))
        said.push(event('response.output_item.done', { output_index: text.at, item }))
      }
      for (const { at, item: id, ...done } of calls.values()) {
        const item = callItem(id, done, 'completed')
        const place = { output_index: at, item_id: id, name: done.function.name }
        output[at] = item
        said.push(
          event('response.function_call_arguments.done', {
            ...place,
            arguments: done.function.arguments,
          }),
        )
        said.push(event('response.output_item.done', { output_index: at, item }))
      }
      const finish = facts.finish ?? 'stop'
      const response = responseOf(body, { ...facts, finish, output, usage })
      said.push(event(`response.${response.status}`, { response }))
      return said
    },
  }
}
