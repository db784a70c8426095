import { createHash } from 'node:crypto'
import { ApiError } from '#core/error.ts'
import { actionLimits, type Exec, type Limits } from '../actions/contract.ts'
import type { StoredAction } from '../actions/records.ts'
import type { Ground } from './ground.ts'

/** What an action runs, taken apart: the code is kept by its fingerprint. */
export interface TakenExec {
  exec: StoredAction['exec']
  code: { hash: string; text: string } | null
}

const archives = ['UEsDB', 'H4sI', 'f0VMR']

/** Archives and programs come in base64; their first bytes tell. */
const isBinary = (code: string): boolean =>
  archives.some((start) => code.startsWith(start)) && /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(code)

export const hashCode = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Check the part of an action that runs; sequences are resolved elsewhere. */
export const takeExec = async (
  { invoker, settings }: Ground,
  { kind, code, main, image, binary }: Exec,
): Promise<TakenExec> => {
  if (code !== undefined && Buffer.byteLength(code) > settings.code)
    throw new ApiError(
      413,
      `Code larger than allowed: ${Buffer.byteLength(code)} > ${settings.code} bytes.`,
    )
  const text = code === undefined || code === '' ? undefined : code
  const shown = {
    binary: text !== undefined && (binary === true || isBinary(text)),
    ...(main ? { main } : {}),
  }
  if (kind === 'blackbox') {
    if (!image) throw malformed("exec.image must be the name of a container image for 'blackbox'")
    return { exec: { kind, image, ...shown }, code: text ? { hash: hashCode(text), text } : null }
  }
  const kinds = await invoker.kinds()
  const runtime = kinds.find((each) => each.kind === kind || each.aliases.includes(kind))
  if (!runtime)
    throw ApiError.badRequest(
      `The specified runtime '${kind}' is not supported by this platform. Valid values are: ${kinds
        .map((each) => `'${each.kind}'`)
        .join(', ')}, 'blackbox', 'sequence'.`,
    )
  if (text === undefined) throw malformed(`exec.code must be the source of a '${kind}' action`)
  return { exec: { kind: runtime.kind, ...shown }, code: { hash: hashCode(text), text } }
}

export const malformed = (why: string): ApiError =>
  ApiError.badRequest(`The request content was malformed:\n${why}.`)

const units = { timeout: 'milliseconds', memory: 'MB', logs: 'MB', concurrency: 'calls' } as const

export const takeLimits = (given: Partial<Limits>, current: Limits | undefined): Limits => {
  const pick = (name: keyof Limits): number => {
    const { min, max, standard } = actionLimits[name]
    const value = given[name] ?? current?.[name] ?? standard
    if (value < min)
      throw malformed(
        `${name} ${value} ${units[name]} below allowed threshold of ${min} ${units[name]}`,
      )
    if (value > max)
      throw malformed(
        `${name} ${value} ${units[name]} exceeds allowed threshold of ${max} ${units[name]}`,
      )
    return value
  }
  return {
    timeout: pick('timeout'),
    memory: pick('memory'),
    logs: pick('logs'),
    concurrency: pick('concurrency'),
  }
}
