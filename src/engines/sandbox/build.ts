import { mkdir, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { handOver } from './code.ts'
import type { BuildOutcome, BuildRequest } from './invoker.ts'
import { type Cage, launch, userOf } from './launch.ts'
import { findGo } from './runtimes.ts'
import { etcBinds } from './starter.ts'

/** Builds have a place of their own among the sandboxes, one at a time. */
const slot = 0
const folder = '/build'
const cache = '/cache'
const memory = 2048
const mostOutput = 64 * 1024

export interface Builder {
  run(request: BuildRequest): Promise<BuildOutcome>
}

/** Compilers and package managers that are not among the system's programs. */
const tools = (goRoot: string | undefined): [from: string, to: string][] => {
  const nodeRoot = path.dirname(path.dirname(process.execPath))
  return [
    ...(goRoot ? [[goRoot, '/opt/go'] as [string, string]] : []),
    ...(nodeRoot === '/usr' ? [] : [[nodeRoot, '/opt/node'] as [string, string]]),
  ]
}

/** Runs build steps in a sandbox of their own; compilers keep their cache between runs. */
export const createBuilder = (cage: Cage, cacheDir: string): Builder => {
  let last: Promise<unknown> = Promise.resolve()
  let count = 0

  const build = async ({ dir, commands, timeout }: BuildRequest): Promise<BuildOutcome> => {
    const go = await findGo()
    await mkdir(cacheDir, { recursive: true })
    const user = cage.root ? userOf(slot) : undefined
    if (user !== undefined) {
      await handOver(dir, user)
      if ((await stat(cacheDir)).uid !== user) await handOver(cacheDir, user)
    }
    const launched = await launch(cage, {
      id: `build-${++count}`,
      slot,
      command: ['/bin/sh', '-e', '-c', commands.join('\n')],
      binds: [...etcBinds(cage.home), ...tools(go?.root)],
      writable: [
        [dir, folder],
        [cacheDir, cache],
      ],
      env: {
        PATH: '/opt/go/bin:/opt/node/bin:/usr/bin:/bin',
        HOME: '/tmp',
        LANG: 'C.UTF-8',
        CI: 'true',
        CGO_ENABLED: '0',
        GOCACHE: `${cache}/go`,
        GOMODCACHE: `${cache}/go-modules`,
        GOTOOLCHAIN: 'local',
        npm_config_cache: `${cache}/npm`,
        PIP_CACHE_DIR: `${cache}/pip`,
        ...(cage.bwrap ? {} : { GOCACHE: path.join(cacheDir, 'go') }),
      },
      dir: folder,
      memory,
      scratch: 1024,
      processes: 256,
      cpus: availableParallelism(),
      network: true,
    })
    let output = ''
    for (const stream of [launched.stdout, launched.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-mostOutput)
      })
    let late = false
    const timer = setTimeout(() => {
      late = true
      launched.kill().catch(() => undefined)
    }, timeout)
    const code = await new Promise<number>((resolve) =>
      launched.child.once('close', (status) => resolve(status ?? 137)),
    )
    clearTimeout(timer)
    await launched.kill()
    if (user !== undefined) await handOver(dir, 0)
    return { code, output: late ? `${output}\nThe build took longer than ${timeout} ms.` : output }
  }

  return {
    run: (request) => {
      const turn = last.then(() => build(request))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}
