import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError } from '#core/error.ts'
import { unzip, zipFolder } from '#engines/sandbox/zip.ts'
import type { ActionChange } from '../actions/contract.ts'
import { buildSteps } from '../build-steps.ts'
import type { Ground } from './ground.ts'

const longest = 10 * 60_000

/** Sources that were sent as an archive, built where they will run, and put back as an archive. */
export const createRemoteBuild =
  (ground: Ground, folder: () => string) =>
  async (change: ActionChange): Promise<ActionChange> => {
    const { exec } = change
    if (!exec?.code) throw ApiError.badRequest('A build needs exec.code: a zip of the sources.')
    const dir = join(folder(), 'builds', ground.ids.uuid())
    await mkdir(dir, { recursive: true })
    try {
      await unzip(Buffer.from(exec.code, 'base64'), dir)
      const commands = await buildSteps(dir, exec.kind)
      const { code, output } = await ground.invoker.build({ dir, commands, timeout: longest })
      if (code !== 0)
        throw ApiError.badRequest(`The build failed with status ${code}:\n${output.slice(-4000)}`)
      const packed = (await zipFolder(dir)).toString('base64')
      return { ...change, exec: { ...exec, code: packed, binary: true } }
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }
