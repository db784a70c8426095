import { z } from 'zod'
import { ApiError } from '#core/error.ts'
import { anyObject, anyText, flag, int, text, texts } from '#mcp/args.ts'
import { script, type ToolContext } from '#mcp/tool.ts'
import { Limit, listed, NamespaceID, pairs, Skip } from '../arguments.ts'
import { dataPlane, ownKeyOperations } from '../own-key.ts'
import { Action, actionLimits } from './contract.ts'

const ActionName = text('Function, such as hello')
const PackageName = text('Its package, if any')
const uses = ownKeyOperations
const defaultKind = 'nodejs:20'
const longestWait = 60_000

interface Named {
  ActionName: string
  PackageName?: string | undefined
}

const at = (a: Named) => ['actions', ...(a.PackageName ? [a.PackageName] : []), a.ActionName]

export const actionTools = {
  'functions-list-actions': script({
    title: 'List functions',
    about: "List a namespace's functions, newest first.",
    args: { NamespaceID, Limit, Skip: Skip.optional() },
    effect: 'read',
    uses,
    returns: z.object({ actions: z.array(Action), count: z.number() }),
    run: async (a, context) => {
      const query = { limit: a.Limit, skip: a.Skip }
      const { body } = await dataPlane(context, a.NamespaceID, {
        method: 'GET',
        path: ['actions'],
        query,
      })
      return listed('actions', body)
    },
  }),

  'functions-get-action': script({
    title: 'Get function',
    about: 'Get a function.',
    args: {
      NamespaceID,
      ActionName,
      PackageName: PackageName.optional(),
      IncludeCode: flag('Include the source code').default(false),
    },
    effect: 'read',
    uses,
    returns: Action,
    run: async (a, context) => {
      const query = { code: a.IncludeCode }
      return (await dataPlane(context, a.NamespaceID, { method: 'GET', path: at(a), query })).body
    },
  }),

  'functions-create-or-update-action': script({
    title: 'Create or update function',
    about:
      'Deploy a function from one source without dependencies, an image or a sequence; overwrites.',
    args: {
      NamespaceID,
      ActionName,
      PackageName: PackageName.optional(),
      Kind: text(
        'nodejs:20, python:3.11, go:default, php:default, blackbox or sequence',
      ).optional(),
      Code: anyText('Source, unless blackbox').optional(),
      Image: text('Container image for blackbox').optional(),
      Main: text('Entry point, main by default').optional(),
      Components: texts('Functions of a sequence, in order').optional(),
      Timeout: int('ms for one call', 1).default(actionLimits.timeout.standard),
      Memory: int('MB of memory', 1).default(actionLimits.memory.standard),
      Logs: int('MB of logs', 0).default(actionLimits.logs.standard),
      Annotations: pairs('Such as [{"key": "web-export", "value": true}]').optional(),
      Parameters: pairs('Default parameters').optional(),
    },
    effect: 'change',
    uses,
    returns: Action,
    run: async (a, context) => {
      const exec = await execOf(a, context)
      const { body } = await dataPlane(context, a.NamespaceID, {
        method: 'PUT',
        path: at(a),
        query: { overwrite: true },
        body: {
          ...(exec ? { exec } : {}),
          limits: { timeout: a.Timeout, memory: a.Memory, logs: a.Logs },
          ...(a.Annotations ? { annotations: a.Annotations } : {}),
          ...(a.Parameters ? { parameters: a.Parameters } : {}),
        },
      })
      return body
    },
  }),

  'functions-delete-action': script({
    title: 'Delete function',
    about: 'Delete a function for good.',
    args: { NamespaceID, ActionName, PackageName: PackageName.optional() },
    effect: 'delete',
    uses,
    returns: Action,
    run: async (a, context) =>
      (await dataPlane(context, a.NamespaceID, { method: 'DELETE', path: at(a) })).body,
  }),

  'functions-invoke-action': script({
    title: 'Call function',
    about: 'Call a function and get its activation record, or its result.',
    args: {
      NamespaceID,
      ActionName,
      PackageName: PackageName.optional(),
      Blocking: flag('Wait; false gives the activation id at once').default(true),
      Result: flag('Only the result').default(false),
      InvokeTimeout: int('ms to wait', 1, longestWait).default(longestWait),
      Payload: anyObject('Parameters, such as {"name": "Ada"}').optional(),
    },
    effect: 'create',
    uses,
    run: async (a, context) => {
      const answer = await dataPlane(context, a.NamespaceID, {
        method: 'POST',
        path: at(a),
        query: {
          blocking: a.Blocking,
          result: a.Result,
          timeout: a.Blocking ? a.InvokeTimeout : undefined,
        },
        body: a.Payload ?? {},
        // The function failed, not the call: its record says how.
        accept: [502],
      })
      if (answer.status === 202 && a.Blocking)
        context.note(
          `The function was still running after ${a.InvokeTimeout} ms; functions-get-activation has its record when it ends.`,
        )
      if (answer.status === 502)
        context.note(`The function failed (activation ${answer.activationId ?? 'unknown'}).`)
      return answer.body
    },
  }),
}

interface ExecArgs extends Named {
  NamespaceID: string
  Kind?: string | undefined
  Code?: string | undefined
  Image?: string | undefined
  Main?: string | undefined
  Components?: string[] | undefined
}

/** Which arguments go together is checked before anything is sent. */
const execOf = async (a: ExecArgs, context: ToolContext): Promise<object | undefined> => {
  const { Code: code, Image: image, Main: main, Components: components } = a
  if (components) {
    if (a.Kind !== undefined && a.Kind !== 'sequence')
      throw ApiError.invalid(`Components goes with Kind sequence, not ${a.Kind}.`)
    if (code !== undefined || image !== undefined)
      throw ApiError.invalid('Components goes without Code and Image.')
    if (components.length === 0) throw ApiError.invalid('Components must name at least one action.')
    return { kind: 'sequence', components: components.map((name) => qualified(a, name)) }
  }
  if (a.Kind === 'sequence') throw ApiError.invalid('Kind sequence needs Components.')
  if (image !== undefined || a.Kind === 'blackbox') {
    if (image === undefined) throw ApiError.invalid('Kind blackbox needs Image.')
    if (a.Kind !== undefined && a.Kind !== 'blackbox')
      throw ApiError.invalid(`Image goes with Kind blackbox, not ${a.Kind}.`)
    return { kind: 'blackbox', image, ...(code ? { code } : {}), ...(main ? { main } : {}) }
  }
  if (code === undefined) {
    if (a.Kind !== undefined || main !== undefined)
      throw ApiError.invalid(`${a.Kind ? 'Kind' : 'Main'} needs Code.`)
    return undefined
  }
  const kind = a.Kind ?? (await kindOf(a, context)) ?? defaultKind
  return { kind, code, ...(main ? { main } : {}) }
}

const qualified = (a: ExecArgs, name: string): string =>
  name.startsWith('/') ? name : `/${a.NamespaceID}/${name}`

const HasKind = z.object({ exec: z.object({ kind: z.string() }) })

/** New code without a kind is in the language that the function has. */
const kindOf = async (a: ExecArgs, context: ToolContext): Promise<string | undefined> => {
  try {
    const query = { code: false }
    const { body } = await dataPlane(context, a.NamespaceID, { method: 'GET', path: at(a), query })
    const kind = HasKind.safeParse(body).data?.exec.kind
    return kind === 'sequence' || kind === 'blackbox' ? undefined : kind
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
