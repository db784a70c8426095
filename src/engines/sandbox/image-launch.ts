import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ApiError } from '#core/error.ts'
import { type Cage, type Launched, type LaunchSpec, launch } from './launch.ts'
import { findProgram } from './machine.ts'

/** Start an image and, in its network, the proxy that speaks to it. */
export const launchImage = async (
  cage: Cage,
  spec: LaunchSpec,
  proxy: string,
): Promise<Launched> => {
  const nsenter = findProgram('nsenter')
  if (!cage.bwrap || !cage.root || !nsenter)
    throw ApiError.unavailable('Container images need bubblewrap, nsenter and root.')
  const launched = await launch(cage, spec)
  const pid = await launched.inner.catch(() => undefined)
  if (pid === undefined) {
    await launched.kill()
    throw ApiError.badRequest('The container image did not start.')
  }
  const relay = spawn(nsenter, [`--net=/proc/${pid}/ns/net`, process.execPath, proxy], {
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    env: {},
  })
  const input = relay.stdin as Writable
  const answers = relay.stdio[3] as Readable
  input.on('error', () => undefined)
  relay.on('error', () => undefined)
  // One cannot work without the other.
  relay.once('close', () => launched.child.kill('SIGKILL'))
  launched.child.once('close', () => relay.kill('SIGKILL'))
  return {
    ...launched,
    input,
    answers,
    kill: async () => {
      relay.kill('SIGKILL')
      await launched.kill()
    },
  }
}
