import { type Elicited, isObject, type JsonObject } from '#mcp/protocol.ts'

const actions = ['accept', 'decline', 'cancel'] as const

/** Reads what a client says a person answered; a sentence when it does not fit the form. */
export const readElicited = (answer: JsonObject, form: JsonObject): Elicited | string => {
  const action = actions.find((known) => known === answer.action)
  if (!action) return '"action" has to be accept, decline or cancel'
  if (action !== 'accept') return { action }
  const content = answer.content ?? {}
  if (!isObject(content)) return '"content" has to be an object'
  return misfit(content, form) ?? { action, content }
}

/** Forms are flat, so that a schema library is not needed to check one. */
const misfit = (content: JsonObject, form: JsonObject): string | undefined => {
  const fields = isObject(form.properties) ? form.properties : {}
  const required = Array.isArray(form.required) ? form.required : []
  const absent = required.find((name) => content[String(name)] === undefined)
  if (absent !== undefined) return `"${absent}" is required`
  for (const [name, field] of Object.entries(fields)) {
    const value = content[name]
    if (value === undefined || !isObject(field)) continue
    const type = String(field.type)
    if (!(typeChecks[type] ?? always)(value)) return `"${name}" has to be of type ${type}`
    if (Array.isArray(field.enum) && !field.enum.includes(value))
      return `"${name}" has to be one of ${field.enum.join(', ')}`
  }
  return undefined
}

const always = () => true
const typeChecks: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  array: Array.isArray,
}
