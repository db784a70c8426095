import { ApiError } from '#core/error.ts'
import { noPackage } from '../actions/records.ts'

/** Where an action is: its namespace, its package (or none) and its name. */
export interface ActionPath {
  namespace: string
  package: string
  name: string
}

const nameRule = /^(\w|\w[\w@ .&-]{0,254}[\w@.&-])$/

export const checkName = (name: string): string => {
  if (nameRule.test(name)) return name
  throw ApiError.badRequest(
    `The name '${name.slice(0, 260)}' is not valid: it has 1 to 256 letters, digits or any of _@ .&- and starts with a letter, digit or _.`,
  )
}

/** `/ns/pkg/name`, `/ns/name`, `pkg/name` or `name`; `_` is the own namespace. */
export const parseActionPath = (text: string, own: string): ActionPath => {
  const parts = text.split('/')
  const absolute = parts[0] === ''
  const names = absolute ? parts.slice(2) : parts
  const namespace = absolute ? (parts[1] ?? '') : own
  if (names.length < 1 || names.length > 2 || names.some((name) => !nameRule.test(name)))
    throw ApiError.badRequest(
      `'${text}' is not the name of an action: write /namespace/package/action.`,
    )
  const [first = '', second] = names
  return {
    namespace: namespace === '_' ? own : namespace,
    package: second === undefined || first === 'default' ? noPackage : first,
    name: second ?? first,
  }
}

/** `package/name` or `name` */
export const shortPath = (path: Pick<ActionPath, 'package' | 'name'>): string =>
  path.package === noPackage ? path.name : `${path.package}/${path.name}`

export const fullPath = (path: ActionPath): string => `${path.namespace}/${shortPath(path)}`

/** `0.0.1` → `0.0.2` */
export const nextVersion = (version: string): string => {
  const [major = '0', minor = '0', patch = '0'] = version.split('.')
  return `${major}.${minor}.${Number(patch) + 1}`
}
