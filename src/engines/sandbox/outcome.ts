import type { Exchange } from './box.ts'
import type { ExecOutcome, Failure, Status } from './invoker.ts'

/** The limits that the sentences below name. */
export interface Told {
  timeout: number
  logBytes: number
  answerBytes: number
}

type Ending = Pick<ExecOutcome, 'status' | 'failure' | 'result' | 'size'>

const ending = (status: Status, error: unknown, failure?: Failure): Ending => ({
  status,
  ...(failure ? { failure } : {}),
  result: { error },
  size: Buffer.byteLength(JSON.stringify({ error })),
})

export const cutLine = (bytes: number): string =>
  `Logs were truncated because the total bytes size exceeds the limit of ${bytes} bytes.`

/** What taking in the code came to; undefined when it went well. */
export const initEnding = ({ kind, text }: Exchange, told: Told): Ending | undefined => {
  if (kind === 'answer' && !text.startsWith('!')) return undefined
  if (kind === 'timeout')
    return ending(
      'action developer error',
      `The action exceeded its time limits of ${told.timeout} milliseconds during initialization.`,
      'timeout',
    )
  if (kind === 'memory') return outOfMemory
  if (kind === 'answer') return ending('action developer error', faultOf(text), 'init')
  return ending(
    'action developer error',
    'The action did not initialize and exited unexpectedly.',
    'init',
  )
}

const outOfMemory = ending(
  'action developer error',
  'The action exhausted its memory and was aborted.',
  'memory',
)

/** What a call came to. */
export const runEnding = ({ kind, text, size }: Exchange, told: Told): Ending => {
  switch (kind) {
    case 'timeout':
      return ending(
        'action developer error',
        `The action exceeded its time limits of ${told.timeout} milliseconds.`,
        'timeout',
      )
    case 'memory':
      return outOfMemory
    case 'exit':
      return ending(
        'action developer error',
        'The action did not produce a valid response and exited unexpectedly.',
        'exit',
      )
    case 'size':
      return ending(
        'application error',
        `The action produced a response that exceeded the allowed length: ${size} > ${told.answerBytes} bytes.`,
        'size',
      )
    default:
      return answered(text, size)
  }
}

const answered = (text: string, size: number): Ending => {
  if (text.startsWith('!')) return ending('action developer error', faultOf(text), 'answer')
  const result = parsed(text)
  if (typeof result !== 'object' || result === null)
    return ending(
      'action developer error',
      'The action did not return a dictionary or array.',
      'answer',
    )
  const failed = !Array.isArray(result) && 'error' in result
  return { status: failed ? 'application error' : 'success', result, size }
}

const faultOf = (text: string): string => {
  const message = parsed(text.slice(1))
  return typeof message === 'string' ? message : 'The action answered with a broken line.'
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
