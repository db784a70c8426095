import type { z } from 'zod'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One operation of the HTTP API, as data: clients, handlers, documents and tests derive from it. */
export interface Operation<
  P extends string = string,
  Q extends z.ZodType | undefined = z.ZodType | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
  R extends z.ZodType | undefined = z.ZodType | undefined,
> {
  readonly method: Method
  /** `/v2/domains/:name` */
  readonly path: P
  readonly query: Q
  readonly body: B
  readonly returns: R
  /** Status of success. */
  readonly status: number
  /** What a token must be allowed to do: `domain:read`. Undefined: any valid token. */
  readonly scope: string | undefined
  /** Status that refuses invalid input: 422 nearly everywhere. */
  readonly invalid: 400 | 422
  /** An addition of ours to the public API. */
  readonly ours: boolean
}

type Names<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

type PathOf<P extends string> = [Names<P>] extends [never]
  ? { path?: undefined }
  : { path: Record<Names<P>, string | number> }

type Part<K extends string, S> = S extends z.ZodType
  ? undefined extends z.input<S>
    ? { [k in K]?: z.input<S> }
    : Record<string, never> extends z.input<S>
      ? { [k in K]?: z.input<S> }
      : { [k in K]: z.input<S> }
  : { [k in K]?: undefined }

/** What a caller sends. */
export type RequestOf<O> =
  O extends Operation<infer P, infer Q, infer B, infer _R>
    ? PathOf<P> & Part<'query', Q> & Part<'body', B>
    : never

/** What a handler receives: validated, defaults filled in. */
export type InputOf<O> =
  O extends Operation<infer P, infer Q, infer B, infer _R>
    ? {
        path: Record<Names<P>, string>
        query: Q extends z.ZodType ? z.output<Q> : undefined
        body: B extends z.ZodType ? z.output<B> : undefined
      }
    : never

/** What the operation answers; undefined for an empty body. */
export type ResultOf<O> =
  O extends Operation<infer _P, infer _Q, infer _B, infer R>
    ? R extends z.ZodType
      ? z.output<R>
      : undefined
    : never

interface Shape<
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
  R extends z.ZodType | undefined,
> {
  query?: Q
  body?: B
  returns?: R
  status?: number
  /** What the caller does to the resource, where the method does not say it: `update`. */
  act?: string
  invalid?: 400 | 422
  ours?: boolean
}

const acts: Record<Method, string> = {
  GET: 'read',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
}

/** The verbs of one kind of resource; its name makes the scopes (`domain` → `domain:read`). */
export const resource = (name: string) => {
  const verb =
    (method: Method) =>
    <
      const P extends string,
      Q extends z.ZodType | undefined = undefined,
      B extends z.ZodType | undefined = undefined,
      R extends z.ZodType | undefined = undefined,
    >(
      path: P,
      shape: Shape<Q, B, R> = {},
    ): Operation<P, Q, B, R> => ({
      method,
      path,
      query: shape.query as Q,
      body: shape.body as B,
      returns: shape.returns as R,
      status: shape.status ?? (shape.returns ? (method === 'POST' ? 201 : 200) : 204),
      scope: `${name}:${shape.act ?? acts[method]}`,
      invalid: shape.invalid ?? 422,
      ours: shape.ours ?? false,
    })
  return {
    get: verb('GET'),
    post: verb('POST'),
    put: verb('PUT'),
    patch: verb('PATCH'),
    del: verb('DELETE'),
  }
}
