import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ApiError } from '#core/error.ts'
import type { Program } from './invoker.ts'
import { goProxy } from './proxies/go.ts'
import { isZip, unzip } from './zip.ts'

/** An action's code in the form a sandbox takes it. */
export type Code = { source: string } | { dir: string }

export interface CodeStore {
  /** The program of an action; made once, then found by its fingerprint. */
  program(action: Program): Promise<Code>
  /** Forget folders beyond the number kept, longest unused first. */
  trim(): Promise<void>
}

/** Runs `go build` in a folder; answers what the compiler said when it failed. */
export type Compile = (dir: string, command: string) => Promise<{ code: number; output: string }>

const kept = 500
const goBinary = 'exec'

export const openCodeStore = (home: string, compile: Compile): CodeStore => {
  /** In order of use. */
  const folders = new Map<string, Promise<string>>()

  const folder = (id: string, make: (dir: string) => Promise<void>): Promise<string> => {
    const there = folders.get(id)
    folders.delete(id)
    const dir = path.join(home, id)
    const made = there ?? build(dir, make)
    folders.set(id, made)
    made.catch(() => folders.delete(id))
    return made
  }

  const goProgram = (action: Program) =>
    folder(`go-${action.main}-${action.codeHash}`, async (dir) => {
      await unpack(await action.code(), action.binary, dir, 'main.go')
      if (existsSync(path.join(dir, goBinary))) return chmod(path.join(dir, goBinary), 0o755)
      const main = action.main[0]?.toUpperCase() + action.main.slice(1)
      await writeFile(path.join(dir, 'cove_main.go'), goProxy(main))
      if (!existsSync(path.join(dir, 'go.mod')))
        await writeFile(path.join(dir, 'go.mod'), 'module action\n')
      const vendored = existsSync(path.join(dir, 'vendor')) ? 'vendor' : 'mod'
      const { code, output } = await compile(dir, `go build -mod=${vendored} -o ${goBinary} .`)
      if (code !== 0) throw ApiError.badRequest(`The Go code does not compile: ${output.trim()}`)
    })

  return {
    program: async (action) => {
      if (action.kind.startsWith('go:')) return { dir: await goProgram(action) }
      if (!action.binary) return { source: await action.code() }
      const dir = await folder(`zip-${action.codeHash}`, async (to) =>
        unpack(await action.code(), true, to, ''),
      )
      return { dir }
    },
    trim: async () => {
      for (const id of [...folders.keys()].slice(0, Math.max(0, folders.size - kept))) {
        folders.delete(id)
        await rm(path.join(home, id), { recursive: true, force: true })
      }
    },
  }
}

const unpack = async (code: string, binary: boolean, dir: string, file: string) => {
  if (!binary) return writeFile(path.join(dir, file), code)
  const bytes = Buffer.from(code, 'base64')
  if (isZip(bytes)) return unzip(bytes, dir)
  // One compiled program instead of an archive.
  await writeFile(path.join(dir, goBinary), bytes, { mode: 0o755 })
}

/** Made aside and moved into place, so that a half-made folder is never used. */
const build = async (dir: string, make: (dir: string) => Promise<void>): Promise<string> => {
  const aside = `${dir}.new`
  await rm(aside, { recursive: true, force: true })
  await mkdir(aside, { recursive: true })
  await make(aside)
  await letRead(aside)
  await rm(dir, { recursive: true, force: true })
  await rename(aside, dir)
  return dir
}

/** Sandboxes run as other users, who may read what is theirs whatever the umask here is. */
export const letRead = async (dir: string): Promise<void> => {
  if ((process.umask() & 0o055) === 0) return
  await chmod(dir, 0o755)
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const file = path.join(dir, entry.name)
    if (entry.isDirectory()) await letRead(file)
    else if (entry.isFile())
      await chmod(file, ((await stat(file)).mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}

/** Give a tree to another user; links are not followed. */
export const handOver = async (dir: string, user: number): Promise<void> => {
  await chown(dir, user, user)
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const file = path.join(dir, entry.name)
    if (entry.isDirectory()) await handOver(file, user)
    else if (!entry.isSymbolicLink()) await chown(file, user, user)
  }
}
