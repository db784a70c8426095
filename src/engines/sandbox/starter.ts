import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ApiError, messageOf } from '#core/error.ts'
import { type Box, boxOf } from './box.ts'
import { type CodeStore, letRead } from './code.ts'
import { findImage } from './image.ts'
import { launchImage } from './image-launch.ts'
import type { ExecAction, Program } from './invoker.ts'
import { type Cage, type Launched, type LaunchSpec, launch } from './launch.ts'
import { imageProxy } from './proxies/image.ts'
import { nodeProxy } from './proxies/node.ts'
import { phpProxy } from './proxies/php.ts'
import { pythonProxy } from './proxies/python.ts'
import { type Interpreter, proxyFolder, sandboxEnv } from './runtimes.ts'

/** Starts the sandboxes of each kind, and knows how each takes in its code. */
export interface Starter {
  interpreter(kind: string): Interpreter
  /** One without code yet. */
  blank(interpreter: Interpreter, memory: number): Promise<Box>
  /** Whether a blank one of its kind can take in this action. */
  takesBlank(action: Program): boolean
  /** One made for this action. */
  start(action: ExecAction): Promise<Box>
  /** The line that hands the code over; undefined for a program that only has to greet. */
  initLine(action: ExecAction): Promise<string | undefined>
}

const codeFolder = '/app'
/** MB of /tmp */
const scratch = 64
const processes = 128
const slots = 65_534
const greeting = { timeout: 30_000, logBytes: 65_536, answerBytes: 1024 }

export const createStarter = (
  { home, images }: { home: string; images: string },
  cage: Cage,
  codes: CodeStore,
  interpreters: Interpreter[],
): Starter => {
  const proxies = path.join(home, 'proxies')
  let lastSlot = Math.floor(Math.random() * slots)

  const interpreter = (kind: string): Interpreter => {
    const found = interpreters.find((each) => each.kind === kind || each.aliases.includes(kind))
    if (found) return found
    const known = interpreters.map((each) => each.kind).join(', ')
    throw ApiError.badRequest(
      `The specified runtime '${kind}' is not supported by this platform. Valid values are: ${known}.`,
    )
  }

  const specOf = (
    of: { binds: [string, string][]; env: Record<string, string> },
    memory: number,
  ): Omit<LaunchSpec, 'command'> => {
    lastSlot = (lastSlot % slots) + 1
    return {
      id: `${process.pid}-${lastSlot}`,
      slot: lastSlot,
      binds: of.binds,
      env: { ...of.env, ...(cage.bwrap ? {} : { TMPDIR: path.join(home, 'scratch') }) },
      memory,
      scratch,
      processes,
      network: true,
    }
  }

  const boxFor = async (
    { binds, env, command }: Interpreter,
    memory: number,
    dir?: string,
    more: Record<string, string> = {},
  ): Promise<Box> => {
    const shown: [string, string][] = [
      ...binds,
      [proxies, proxyFolder],
      ...etcBinds(home),
      ...(dir === undefined ? [] : [[dir, codeFolder] as [string, string]]),
    ]
    const launched = await launch(cage, {
      ...specOf({ binds: shown, env: { ...env, ...more } }, memory),
      command: command ?? [`${codeFolder}/exec`],
    })
    const box = await connected(launched, boxOf(launched, true))
    // An interpreter is ready for code when it says so; a program says so when it is asked.
    if (command !== undefined) await greeted(box)
    return box
  }

  return {
    interpreter,
    blank: (kind, memory) => boxFor(kind, memory),
    takesBlank: (action) =>
      action.kind !== 'blackbox' &&
      !action.binary &&
      interpreter(action.kind).command !== undefined,
    start: async (action) => {
      const { memory } = action.limits
      if (action.kind !== 'blackbox') {
        const kind = interpreter(action.kind)
        const program = await codes.program(action)
        return 'dir' in program
          ? boxFor(kind, memory, program.dir, kind.command ? {} : action.env)
          : boxFor(kind, memory)
      }
      const { rootfs, command, env, dir } = await findImage(images, action.image ?? '')
      const launched = await launchImage(
        cage,
        { ...specOf({ binds: [], env: { ...sandboxEnv, ...env } }, memory), rootfs, command, dir },
        path.join(proxies, 'image.cjs'),
      )
      return connected(launched, boxOf(launched))
    },
    initLine: async (action) => {
      const { name, main, env, binary } = action
      if (action.kind === 'blackbox')
        return JSON.stringify({ init: { name, main, env, binary, code: await action.code() } })
      if (!interpreter(action.kind).command) return undefined
      const program = await codes.program(action)
      if ('source' in program) return JSON.stringify({ init: { main, env, code: program.source } })
      return JSON.stringify({ init: { main, env, dir: cage.bwrap ? codeFolder : program.dir } })
    },
  }
}

const greeted = async (box: Box) => {
  const { kind, logs } = await box.exchange(undefined, greeting)
  if (kind === 'answer') return
  await box.kill()
  throw new Error(`A sandbox did not start: ${logs.join(' ') || kind}`)
}

/** A sandbox whose network does not come about is of no use; what it said tells why. */
const connected = async (launched: Launched, box: Box): Promise<Box> => {
  try {
    await launched.connected
    return box
  } catch (error) {
    await box.kill()
    throw new Error(`A sandbox did not start: ${box.said() || messageOf(error)}`)
  }
}

/** A small /etc for every sandbox. */
export const etcBinds = (home: string): [from: string, to: string][] =>
  ['passwd', 'group', 'hosts', 'nsswitch.conf', 'resolv.conf'].map((name) => [
    path.join(home, 'proxies', name),
    `/etc/${name}`,
  ])

/** The files that every sandbox reads: the proxies, and a small /etc. */
export const writeProxies = async (home: string, resolvers: string[]): Promise<void> => {
  const folder = path.join(home, 'proxies')
  await mkdir(folder, { recursive: true })
  await mkdir(path.join(home, 'scratch'), { recursive: true })
  const files: Record<string, string> = {
    'node.cjs': nodeProxy,
    'python.py': pythonProxy,
    'php.php': phpProxy,
    'image.cjs': imageProxy,
    passwd: 'function:x:1000:1000::/tmp:/bin/sh\n',
    group: 'function:x:1000:\n',
    hosts: '127.0.0.1 localhost function\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    'resolv.conf': resolvers.map((address) => `nameserver ${address}\n`).join(''),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text)
  await letRead(folder)
}
