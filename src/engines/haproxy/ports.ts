import { createServer } from 'node:net'
import type { Section } from './parts.ts'

/** Why a balancer cannot listen where it would have to, asked of the system before HAProxy is. */
export const portProblem = async (
  section: Section,
  before: Section | undefined,
  adopted: ReadonlySet<string>,
): Promise<string | undefined> => {
  const held = new Set([...adopted, ...bindsOf(before?.shape ?? '')])
  for (const bind of bindsOf(section.shape)) {
    if (held.has(bind)) continue
    const at = bind.lastIndexOf(':')
    const problem = await tryToListen(bind.slice(0, at), Number(bind.slice(at + 1)))
    if (problem) return problem
  }
  return undefined
}

/** Where a configuration listens. */
export const bindsOf = (text: string): string[] =>
  [...text.matchAll(/^ {2}bind (\S+)/gm)].map(([, where = '']) => where)

const tryToListen = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'EACCES'
          ? `Port ${port} may be opened by root only on this machine.`
          : `${host}:${port} cannot be listened on: ${error.message}.`,
      ),
    )
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
