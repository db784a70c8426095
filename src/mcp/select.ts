import type { Effect } from './tool.ts'

/** A tool as the list needs it. Rendered when Cove is built, so that listing loads no tool. */
export interface Listed {
  readonly name: string
  readonly service: string
  readonly effect: Effect
  /** The operations it may ask of the API: `GET /v2/domains/:name`. */
  readonly uses: readonly string[]
  readonly json: string
}

/** Which tools a server, or one caller of it, wants. Empty lists mean no wish. */
export interface Wish {
  services?: readonly string[]
  tools?: readonly string[]
  excludeTools?: readonly string[]
  readOnly?: boolean
}

export interface Selection {
  readonly tools: ReadonlyMap<string, Listed>
  /** The result of `tools/list`, serialised. */
  readonly json: string
  /** Fewer tools, never more. */
  narrow(wish: Wish): Selection
  /** Why a tool of the catalogue is not offered here, or undefined when there is no such tool. */
  whyNot(name: string): string | undefined
}

/** `read-only` always wins; an unknown name is an error that lists the valid ones. */
export const select = (catalogue: readonly Listed[], wish: Wish): Selection => {
  checkNames('service', wish.services, new Set(catalogue.map((tool) => tool.service)))
  const names = new Set(catalogue.map((tool) => tool.name))
  checkNames('tool', wish.tools, names)
  checkNames('tool', wish.excludeTools, names)

  const chosen = catalogue.filter((tool) => refusal(tool, wish) === undefined)
  const tools = new Map(chosen.map((tool) => [tool.name, tool]))
  let json: string | undefined
  return {
    tools,
    get json() {
      json ??= `{"tools":[${chosen.map((tool) => tool.json).join(',')}]}`
      return json
    },
    narrow: (more) => select(chosen, more),
    whyNot: (name) => {
      const tool = catalogue.find((candidate) => candidate.name === name)
      return tool && refusal(tool, wish)
    },
  }
}

const refusal = (tool: Listed, wish: Wish): string | undefined => {
  if (wish.readOnly && tool.effect !== 'read') {
    return `${tool.name} changes things, and this server is read-only.`
  }
  if (wish.services?.length && !wish.services.includes(tool.service)) {
    return `${tool.name} belongs to the service ${tool.service}, which is not enabled here.`
  }
  if (wish.tools?.length && !wish.tools.includes(tool.name)) {
    return `${tool.name} is not among the tools enabled here.`
  }
  if (wish.excludeTools?.includes(tool.name)) return `${tool.name} is excluded here.`
  return undefined
}

const checkNames = (kind: string, given: readonly string[] | undefined, valid: Set<string>) => {
  for (const name of given ?? []) {
    if (valid.has(name)) continue
    const near = [...valid].filter((known) => kind === 'service' || related(known, name))
    const hint = near.length > 0 ? near : [...valid]
    throw new Error(`Unknown ${kind} "${name}". Valid: ${hint.slice(0, 40).join(', ')}.`)
  }
}

const related = (known: string, name: string): boolean =>
  name.split('-').some((word) => word.length > 2 && known.split('-').includes(word))
