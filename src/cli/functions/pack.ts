import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { zipFolder } from '#engines/sandbox/zip.ts'
import { buildSteps } from '#services/functions/build-steps.ts'
import { UsageError } from '../values.ts'
import type { ProjectFunction } from './project.ts'

/** Code as it is sent: text, or a zip in base64. */
export interface Packed {
  code: string
  binary: boolean
  /** Sources that Cove has to build before they are kept. */
  build: boolean
}

/** One file goes as it is; a folder is built, here or by Cove, and goes as an archive. */
export const pack = async (
  { source, kind, name }: ProjectFunction,
  remote: boolean,
): Promise<Packed> => {
  if (!statSync(source).isDirectory())
    return { code: readFileSync(source, 'utf8'), binary: false, build: false }
  const steps = await buildSteps(source, kind)
  const leaveOut = ignored(source)
  if (remote || steps.length === 0) {
    const code = (await zipFolder(source, leaveOut)).toString('base64')
    return { code, binary: true, build: remote && steps.length > 0 }
  }
  // The sources stay as they are: a copy is built.
  const copy = mkdtempSync(join(tmpdir(), 'cove-build-'))
  try {
    cpSync(source, copy, { recursive: true, verbatimSymlinks: true })
    for (const step of steps) {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', step], {
        cwd: copy,
        encoding: 'utf8',
      })
      if (status !== 0)
        throw new UsageError(`Building ${name} failed: ${step}\n${stdout}${stderr}`.trim())
    }
    const code = (await zipFolder(copy, leaveOut)).toString('base64')
    return { code, binary: true, build: false }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const always = ['.ignore', '.env', '.git', '.DS_Store']

/** `.ignore` names files and folders, `*` stands for any part of a name. */
const ignored = (dir: string) => {
  const file = join(dir, '.ignore')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const rules = [...always, ...lines]
    .map((line) => line.trim().replace(/^\.?\/|\/$/g, ''))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(
      (line) =>
        new RegExp(`^${line.replace(/[.+^$()[\]{}|\\]/g, '\\$&').replaceAll('*', '[^/]*')}$`),
    )
  return (path: string): boolean => {
    const parts = path.split('/')
    return parts.some((part, at) => {
      const upto = parts.slice(0, at + 1).join('/')
      return rules.some((rule) => rule.test(part) || rule.test(upto) || rule.test(basename(upto)))
    })
  }
}
