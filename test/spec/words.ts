/** An argument as the specification has it. */
export interface Argument {
  /** Undefined where the specification does not say it. */
  type?: 'string' | 'number' | 'boolean' | 'object' | 'string[]' | 'number[]' | 'object[]'
  required?: true
  default?: unknown
  /** All values there are. */
  values?: readonly string[]
  /** Values it names without saying that there are no others. */
  examples?: readonly string[]
  min?: number
  max?: number
  minItems?: number
  /** Text that stands for another kind of value, which is accepted too. */
  means?: 'number' | 'boolean' | 'list' | 'json'
  /** Fields of an object, or of each object in a list. */
  fields?: Arguments
}

export type Arguments = Record<string, Argument>

export const anything: Argument = {}
export const text: Argument = { type: 'string' }
export const number: Argument = { type: 'number' }
export const flag: Argument = { type: 'boolean' }
export const object: Argument = { type: 'object' }
export const texts: Argument = { type: 'string[]' }
export const numbers: Argument = { type: 'number[]' }
export const numberText: Argument = { type: 'string', means: 'number' }
export const flagText: Argument = { type: 'string', means: 'boolean' }
export const listText: Argument = { type: 'string', means: 'list' }
export const jsonText: Argument = { type: 'string', means: 'json' }

export const must = (argument: Argument): Argument => ({ ...argument, required: true })
export const or = (argument: Argument, value: unknown): Argument => ({
  ...argument,
  default: value,
})
export const oneOf = (...values: string[]): Argument => ({ type: 'string', values })
export const like = (...examples: string[]): Argument => ({ type: 'string', examples })
export const between = (min: number, max: number): Argument => ({ type: 'number', min, max })
export const objectOf = (fields: Arguments): Argument => ({ type: 'object', fields })
export const listOf = (fields: Arguments): Argument => ({ type: 'object[]', fields })
export const all = (argument: Argument, ...names: string[]): Arguments =>
  Object.fromEntries(names.map((name) => [name, argument]))

export const paging = (perPage: number): Arguments => ({
  Page: or(number, 1),
  PerPage: or(number, perPage),
})
