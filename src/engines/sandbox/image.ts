import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { ApiError } from '#core/error.ts'
import { runProgram } from './machine.ts'

/** A container image on this machine: what to run, over which files. */
export interface Image {
  rootfs: string
  command: string[]
  env: Record<string, string>
  dir: string
}

const Descriptor = z.looseObject({ digest: z.string().regex(/^sha256:[0-9a-f]{64}$/) })
const Index = z.looseObject({ manifests: z.array(Descriptor).min(1) })
const Manifest = z.looseObject({ config: Descriptor, layers: z.array(Descriptor) })
const Config = z.looseObject({
  config: z
    .looseObject({
      Entrypoint: z.array(z.string()).nullish(),
      Cmd: z.array(z.string()).nullish(),
      Env: z.array(z.string()).nullish(),
      WorkingDir: z.string().nullish(),
    })
    .default({}),
})

/**
 * Find an image by name in the folder that the operator fills: a root file system with a program
 * `/action`, or an OCI layout, which is unpacked once. Other places of the host are never used.
 */
export const findImage = async (folder: string, name: string): Promise<Image> => {
  const dir = path.join(folder, name)
  if (!/^[\w][\w.-]*(\/[\w][\w.-]*)*(:[\w.-]+)?$/.test(name) || !existsSync(dir))
    throw ApiError.badRequest(
      `Failed to pull container image '${name}': this machine has no image of that name. ` +
        `Put a root file system or an OCI layout at ${dir}.`,
    )
  if (existsSync(path.join(dir, 'oci-layout'))) return layout(dir)
  if (!existsSync(path.join(dir, 'action')))
    throw ApiError.badRequest(`Container image '${name}' has no program /action to start.`)
  await makeMountPoints(dir)
  return { rootfs: dir, command: ['/action'], env: {}, dir: '/' }
}

const makeMountPoints = async (rootfs: string) => {
  for (const point of ['proc', 'dev', 'tmp'])
    await mkdir(path.join(rootfs, point), { recursive: true })
}

const layout = async (dir: string): Promise<Image> => {
  const blob = (digest: string) => path.join(dir, 'blobs', ...digest.split(':'))
  const read = async <T extends z.ZodType>(schema: T, file: string) =>
    schema.parse(JSON.parse(await readFile(file, 'utf8')))
  const { manifests } = await read(Index, path.join(dir, 'index.json'))
  const manifest = await read(Manifest, blob(manifests[0]?.digest ?? ''))
  const { config } = await read(Config, blob(manifest.config.digest))
  const rootfs = path.join(dir, 'rootfs')
  if (!existsSync(rootfs)) {
    const aside = `${rootfs}.new`
    await rm(aside, { recursive: true, force: true })
    await mkdir(aside, { recursive: true })
    for (const layer of manifest.layers) await unpackLayer(blob(layer.digest), aside)
    await makeMountPoints(aside)
    await rename(aside, rootfs)
  }
  return {
    rootfs,
    command: [...(config.Entrypoint ?? []), ...(config.Cmd ?? [])],
    env: Object.fromEntries((config.Env ?? []).map((text) => text.split(/=(.*)/s).slice(0, 2))),
    dir: config.WorkingDir || '/',
  }
}

/** `.wh.name` in a layer removes `name` of the layers below; `.wh..wh..opq` empties its folder. */
const unpackLayer = async (layer: string, rootfs: string) => {
  const packed = readFileSync(layer)
    .subarray(0, 2)
    .equals(Buffer.from([0x1f, 0x8b]))
    ? ['-z']
    : []
  const names = (await runProgram('tar', ['-t', ...packed, '-f', layer], '', 60_000)).split('\n')
  for (const name of names.filter((each) => path.basename(each).startsWith('.wh.'))) {
    const at = path.join(rootfs, path.dirname(name))
    const hidden = path.basename(name).slice('.wh.'.length)
    if (!at.startsWith(rootfs)) throw ApiError.badRequest(`Layer entry ${name} leads out of it.`)
    if (hidden !== '.wh..opq') await rm(path.join(at, hidden), { recursive: true, force: true })
    else if (existsSync(at)) {
      await rm(at, { recursive: true })
      await mkdir(at)
    }
  }
  await runProgram(
    'tar',
    ['-x', ...packed, '--no-same-owner', '--exclude=.wh.*', '-C', rootfs, '-f', layer],
    '',
    120_000,
  )
}
