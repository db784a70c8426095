import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Setting, type SettingName, settings, unknownEnvironment } from './settings.ts'

/** A mistake in how Cove was called; told in one sentence, without a stack. */
export class UsageError extends Error {}

type ValueOf<S> = S extends { kind: 'number' }
  ? number
  : S extends { kind: 'flag' }
    ? boolean
    : S extends { kind: 'list' }
      ? string[]
      : S extends { kind: 'object' }
        ? Record<string, unknown>
        : string

type Optional<S> = S extends { default: unknown } | { kind: 'flag' | 'list' }
  ? ValueOf<S>
  : ValueOf<S> | undefined

/** The settings of a command, by name. */
export type Values<N extends SettingName> = {
  [K in N]: Optional<(typeof settings)[K]>
}

export interface Parsed<N extends SettingName> {
  values: Values<N>
  positionals: string[]
  home: string
}

/** Flags over environment over `COVE_HOME/config.json`; anything unknown is an error. */
export const parseSettings = <N extends SettingName>(
  names: readonly N[],
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Parsed<N> => {
  const offered = [...new Set<SettingName>([...names, 'home', 'help'])]
  const [stray] = unknownEnvironment(env)
  if (stray)
    throw new UsageError(`Unknown setting ${stray} in the environment. Valid: ${knownNames()}.`)
  const { values: given, positionals } = parseFlags(offered, argv)
  const homeGiven = given.home ?? (env.COVE_HOME || undefined)
  const home = homeGiven === undefined ? join(homedir(), '.cove') : resolve(String(homeGiven))
  const file = readConfig(home)

  const values: Record<string, unknown> = {}
  for (const name of offered) {
    const setting: Setting = settings[name]
    const fromEnv = setting.env?.map((key) => ({ key, value: env[key] })).find(({ value }) => value)
    if (name in given) values[name] = convert(`--${name}`, setting, given[name])
    else if (fromEnv) values[name] = convert(fromEnv.key, setting, fromEnv.value)
    else if (name in file) values[name] = convert(`"${name}" in config.json`, setting, file[name])
    else values[name] = setting.default ?? emptyValue[setting.kind]
  }
  return { values: values as Values<N>, positionals, home }
}

const emptyValue: Record<Setting['kind'], unknown> = {
  text: undefined,
  number: undefined,
  flag: false,
  list: [],
  object: undefined,
}

const parseFlags = (offered: readonly SettingName[], argv: readonly string[]) => {
  const options = Object.fromEntries(
    offered.map((name) => {
      const setting: Setting = settings[name]
      return [
        name,
        {
          type: setting.kind === 'flag' ? ('boolean' as const) : ('string' as const),
          multiple: setting.kind === 'list',
          ...(setting.short ? { short: setting.short } : {}),
        },
      ]
    }),
  )
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    const said = error instanceof Error ? error.message.split('. ')[0] : String(error)
    throw new UsageError(`${said}. Valid: ${offered.map((name) => `--${name}`).join(', ')}.`)
  }
}

const readConfig = (home: string): Record<string, unknown> => {
  const path = join(home, 'config.json')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return {} // There need not be one.
  }
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch (error) {
    throw new UsageError(
      `${path} is not valid JSON: ${error instanceof Error ? error.message : error}`,
    )
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new UsageError(`${path} must hold a JSON object.`)
  }
  const valid = Object.entries(settings).filter(([, setting]) => !('flagOnly' in setting))
  for (const key of Object.keys(config)) {
    if (valid.some(([name]) => name === key)) continue
    throw new UsageError(
      `Unknown setting "${key}" in ${path}. Valid: ${valid.map(([name]) => name).join(', ')}.`,
    )
  }
  return config as Record<string, unknown>
}

const convert = (where: string, setting: Setting, value: unknown): unknown => {
  switch (setting.kind) {
    case 'flag':
      return toFlag(where, value)
    case 'number':
      return toNumber(where, setting, value)
    case 'list':
      return toList(value)
    case 'object':
      return toObject(where, value)
    case 'text':
      return toText(where, setting, value)
  }
}

const toFlag = (where: string, value: unknown): boolean => {
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0' || value === '') return false
  throw new UsageError(`${where} must be true or false, not "${value}".`)
}

const toNumber = (
  where: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: Setting,
  value: unknown,
) => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) {
    return number
  }
  throw new UsageError(`${where} must be a whole number from ${min} to ${max}, not "${value}".`)
}

const toList = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value])
    .flatMap((item) => String(item).split(','))
    .map((item) => item.trim())
    .filter((item) => item !== '')

const toObject = (where: string, value: unknown): Record<string, unknown> => {
  const object = typeof value === 'string' ? parsedJson(value) : value
  if (typeof object === 'object' && object !== null && !Array.isArray(object)) return { ...object }
  throw new UsageError(`${where} must be a JSON object.`)
}

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The caller says what it should have been.
  }
}

const toText = (where: string, { choices }: Setting, value: unknown): string => {
  const text = String(value)
  if (!choices || choices.includes(text)) return text
  throw new UsageError(`${where} must be one of ${choices.join(', ')}, not "${text}".`)
}

const knownNames = (): string =>
  [...new Set(Object.values(settings).flatMap((setting: Setting) => setting.env ?? []))].join(', ')
