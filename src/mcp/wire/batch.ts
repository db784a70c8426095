import { isObject } from '#mcp/protocol.ts'
import type { Answer } from '#mcp/wire/answer.ts'
import { Malformed } from '#mcp/wire/message.ts'

/** The one revision that has batches. */
const batchVersion = '2025-03-26'
const longestBatch = 100

/** Takes what one line or one body holds: a message, or several where the revision allows it. */
export const receiveAll = async (
  value: unknown,
  version: string,
  receive: (value: unknown) => Promise<Answer | undefined>,
): Promise<Answer | undefined> => {
  if (!Array.isArray(value)) return receive(value)
  const refusal = (message: string) => new Malformed('invalidRequest', message)
  if (version !== batchVersion)
    throw refusal(`Only protocol version ${batchVersion} has batches; send one message at a time.`)
  if (value.length === 0 || value.length > longestBatch)
    throw refusal(`A batch has 1 to ${longestBatch} messages.`)
  if (value.some((message) => isObject(message) && message.method === 'initialize'))
    throw refusal('"initialize" cannot be part of a batch.')
  const answers = await Promise.all(value.map(receive))
  const texts = answers.flatMap((answer) => answer?.text ?? [])
  return texts.length > 0 ? { text: `[${texts.join(',')}]` } : undefined
}
