import path from 'node:path'
import type { Runtime } from './invoker.ts'
import { findProgram, runProgram } from './machine.ts'

/** A kind that this machine can run, and how. */
export interface Interpreter extends Runtime {
  /** Undefined: the code itself is the program. */
  command?: string[]
  binds: [from: string, to: string][]
  env: Record<string, string>
  /** How many started sandboxes without code to keep. */
  ready: number
}

export interface GoTool {
  root: string
  version: string
}

export const proxyFolder = '/cove'

const path0 = '/usr/local/bin:/usr/bin:/bin'
export const sandboxEnv = { PATH: path0, HOME: '/tmp', LANG: 'C.UTF-8', __OW_WAIT_FOR_ACK: '1' }

/** A program outside the system's folders is shown to the sandbox where it is. */
const shown = (file: string, whole: string): [string, string][] =>
  file.startsWith('/usr/') && !file.startsWith('/usr/local/') ? [] : [[whole, whole]]

const node = async (): Promise<Interpreter> => ({
  kind: 'nodejs:20',
  aliases: ['nodejs:default'],
  version: `node ${process.version}`,
  default: true,
  command: [process.execPath, '--max-semi-space-size=4', `${proxyFolder}/node.cjs`],
  binds: shown(process.execPath, process.execPath),
  env: sandboxEnv,
  ready: 2,
})

const python = async (): Promise<Interpreter | undefined> => {
  const file = findProgram('python3.11', '') ?? findProgram('python3', '')
  if (!file) return undefined
  const [version = '', prefix = ''] = (
    await runProgram(file, [
      '-c',
      'import sys; print("%d.%d.%d" % sys.version_info[:3]); print(sys.base_prefix)',
    ])
  ).split('\n')
  return {
    kind: 'python:3.11',
    aliases: ['python:default'],
    version: `python ${version}`,
    default: true,
    command: [file, '-B', `${proxyFolder}/python.py`],
    binds: shown(file, prefix),
    env: { ...sandboxEnv, PYTHONIOENCODING: 'utf-8' },
    ready: 1,
  }
}

const php = async (): Promise<Interpreter | undefined> => {
  const file = findProgram('php')
  if (!file) return undefined
  return {
    kind: 'php:default',
    aliases: [],
    version: `php ${await runProgram(file, ['-r', 'echo PHP_VERSION;'])}`,
    default: true,
    command: [file, `${proxyFolder}/php.php`],
    binds: shown(file, file),
    env: sandboxEnv,
    ready: 0,
  }
}

export const findGo = async (): Promise<GoTool | undefined> => {
  const file = findProgram('go', `${process.env.PATH}:/usr/local/go/bin`)
  if (!file) return undefined
  const version = (await runProgram(file, ['version'])).split(' ')[2] ?? 'go'
  return { root: path.dirname(path.dirname(file)), version }
}

const go = async (): Promise<Interpreter | undefined> => {
  const tool = await findGo()
  return (
    tool && {
      kind: 'go:default',
      aliases: [],
      version: tool.version,
      default: true,
      binds: [],
      env: sandboxEnv,
      ready: 0,
    }
  )
}

/** The kinds whose programs are here. */
export const findInterpreters = async (): Promise<Interpreter[]> =>
  (await Promise.all([node(), python(), php(), go()])).flatMap((found) => found ?? [])
