import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { issuesOf } from '#core/schema.ts'
import { UsageError } from '../values.ts'

/** A project on disk: `project.yml`, and the code under `packages/`. */
export interface Project {
  packages: ProjectPackage[]
}

export interface ProjectPackage {
  /** `default` means no package. */
  name: string
  shared: boolean
  parameters: Values
  environment: Values
  annotations: Values
  functions: ProjectFunction[]
}

export interface ProjectFunction {
  name: string
  /** File or folder with the code. */
  source: string
  kind: string
  main: string | undefined
  web: boolean | 'raw'
  parameters: Values
  environment: Values
  annotations: Values
  limits: { timeout?: number | undefined; memory?: number | undefined; logs?: number | undefined }
  triggers: z.output<typeof Trigger>[]
}

type Values = Record<string, unknown>

const Values = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((given) => given ?? {})
const Trigger = z.strictObject({
  name: z.string(),
  enabled: z.boolean().default(true),
  sourceType: z.literal('scheduler').default('scheduler'),
  sourceDetails: z.strictObject({
    cron: z.string(),
    withBody: z.record(z.string(), z.unknown()).optional(),
  }),
})
const Action = z.strictObject({
  name: z.string(),
  runtime: z.string().optional(),
  main: z.string().optional(),
  web: z.union([z.boolean(), z.literal('raw')]).default(true),
  parameters: Values,
  environment: Values,
  annotations: Values,
  limits: z
    .strictObject({ timeout: z.number(), memory: z.number(), logs: z.number() })
    .partial()
    .default({}),
  triggers: z.array(Trigger).default([]),
})
const Package = z.strictObject({
  name: z.string(),
  shared: z.boolean().default(false),
  parameters: Values,
  environment: Values,
  annotations: Values,
  functions: z.array(Action).default([]),
  actions: z.array(Action).default([]),
})
const ProjectFile = z.strictObject({
  parameters: Values,
  environment: Values,
  packages: z.array(Package).default([]),
})

/** Which runtime a file's ending means. */
const kinds: Record<string, string> = {
  '.js': 'nodejs:20',
  '.mjs': 'nodejs:20',
  '.cjs': 'nodejs:20',
  '.py': 'python:3.11',
  '.go': 'go:default',
  '.php': 'php:default',
}

/** Read a project; whatever is wrong is told with its place. */
export const readProject = (dir: string, env: NodeJS.ProcessEnv): Project => {
  const file = join(dir, 'project.yml')
  if (!existsSync(file))
    throw new UsageError(`${dir} has no project.yml. functions-deployment-guide shows one.`)
  const parsed = ProjectFile.safeParse(
    filledIn(parsedYaml(file) ?? {}, { ...dotEnv(dir), ...env }, 'project.yml'),
  )
  if (!parsed.success) throw new UsageError(`project.yml: ${issuesOf(parsed.error)}.`)
  const { packages, ...shared } = parsed.data
  const all = [...packages, ...unlisted(join(dir, 'packages'), packages, Package)]
  const listed = all.map(({ functions, actions, ...pack }) => ({
    ...pack,
    parameters: { ...shared.parameters, ...pack.parameters },
    environment: { ...shared.environment, ...pack.environment },
    functions: [
      ...functions,
      ...actions,
      ...unlisted(join(dir, 'packages', pack.name), [...functions, ...actions], Action),
    ],
  }))
  return {
    packages: listed.map((pack) => ({
      ...pack,
      functions: pack.functions.map((each) => located(dir, pack.name, each)),
    })),
  }
}

/** What is on disk and not in the file gets what is usual. */
const unlisted = <S extends z.ZodType>(
  folder: string,
  known: readonly { name: string }[],
  schema: S,
): z.output<S>[] => {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || extname(entry.name) in kinds)
    .map((entry) => (entry.isDirectory() ? entry.name : basename(entry.name, extname(entry.name))))
    .filter((name) => !name.startsWith('.') && !known.some((each) => each.name === name))
  return [...new Set(names)].map((name) => schema.parse({ name }))
}

const parsedYaml = (file: string): unknown => {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`${basename(file)} is not YAML: ${(error as Error).message}`)
  }
}

/** `NAME=value` lines beside the project file. */
const dotEnv = (dir: string): Record<string, string> => {
  const file = join(dir, '.env')
  if (!existsSync(file)) return {}
  const lines = readFileSync(file, 'utf8').split('\n')
  return Object.fromEntries(
    lines
      .map((line) => /^\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line))
      .flatMap((found) => (found ? [[found[1], found[2]?.replace(/^(['"])(.*)\1$/, '$2')]] : [])),
  )
}

/** `${NAME}` stands for a variable of the shell or of `.env`. */
const filledIn = (value: unknown, env: NodeJS.ProcessEnv, where: string): unknown => {
  if (typeof value === 'string')
    return value.replace(/\$\{(\w+)\}/g, (_all, name: string) => {
      const text = env[name]
      if (text === undefined)
        throw new UsageError(`${where} asks for \${${name}}: set ${name} in the shell or in .env.`)
      return text
    })
  if (Array.isArray(value)) return value.map((each, at) => filledIn(each, env, `${where}[${at}]`))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, filledIn(each, env, `${where}: ${key}`)]),
  )
}

const located = (
  dir: string,
  pack: string,
  { runtime, main, ...given }: z.output<typeof Action>,
): ProjectFunction => {
  const folder = join(dir, 'packages', pack)
  const found = existsSync(folder)
    ? readdirSync(folder).filter((entry) =>
        [entry, basename(entry, extname(entry))].includes(given.name),
      )
    : []
  const source = found.map((entry) => join(folder, entry))[0]
  if (!source)
    throw new UsageError(`packages/${pack} has no file or folder for the function ${given.name}.`)
  const kind = runtime ?? kindOf(source)
  if (!kind)
    throw new UsageError(
      `The runtime of ${pack}/${given.name} is unclear: set runtime in project.yml.`,
    )
  return { ...given, source, kind, main }
}

const kindOf = (source: string): string | undefined =>
  statSync(source).isDirectory()
    ? readdirSync(source)
        .map((file) => kinds[extname(file)])
        .find((kind) => kind !== undefined)
    : kinds[extname(source)]
