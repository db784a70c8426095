import { setTimeout as pause } from 'node:timers/promises'
import type { Section } from './parts.ts'
import { command, commands } from './runtime.ts'

/** Changes the servers and certificates of a running HAProxy, which needs no reload. */
export const createServers = (socket: string) => {
  /** What the process has, by backend and server. */
  let running = new Map<string, Map<string, string>>()
  let certificates = new Map<string, string>()
  /** Servers that are out of use but still have connections, as `backend/server`. */
  const leaving = new Map<string, string>()

  const swap = async (file: string, pem: string): Promise<void> => {
    await commands(socket, [`set ssl cert ${file} <<\n${pem.trim()}\n`, `commit ssl cert ${file}`])
    certificates.set(file, pem)
  }

  const add = async (backend: string, server: string, line: string): Promise<void> => {
    const name = `${backend}/${server}`
    const present = leaving.get(name)
    if (present === line) {
      leaving.delete(name)
      return commands(socket, [`set server ${name} state ready`])
    }
    if (present !== undefined) await remove(name)
    await commands(socket, [`add server ${name} ${line}`])
    if (line.includes('check')) await commands(socket, [`enable health ${name}`])
    await commands(socket, [`enable server ${name}`])
  }

  /** Gone once its last connection is; it gets no new ones from now on. */
  const remove = async (name: string): Promise<void> => {
    for (let waited = 0; waited < 2_000; waited += 50) {
      const said = await command(socket, `del server ${name}`)
      if (said.includes('Server deleted')) {
        leaving.delete(name)
        return
      }
      await pause(50)
    }
  }

  return {
    hasCertificate: (file: string, pem: string): boolean => certificates.get(file) === pem,

    /** The process was started or reloaded with this. */
    adopt(sections: readonly Section[]): void {
      running = new Map(
        sections.flatMap((section) =>
          [...section.servers].map(([name, own]) => [name, new Map(own)] as const),
        ),
      )
      certificates = new Map(sections.flatMap((section) => [...section.certificates]))
      leaving.clear()
    },

    /** Bring the process to this, where the rest of the configuration is the same. */
    async change(sections: readonly Section[]): Promise<void> {
      for (const section of sections) {
        for (const [file, pem] of section.certificates) {
          if (certificates.get(file) !== pem) await swap(file, pem)
        }
        for (const [backend, wanted] of section.servers) {
          const present = running.get(backend) ?? new Map<string, string>()
          for (const [server, line] of [...present]) {
            if (wanted.get(server) === line) continue
            const name = `${backend}/${server}`
            await commands(socket, [`set server ${name} state maint`])
            present.delete(server)
            leaving.set(name, line)
            void remove(name).catch(() => undefined) // the next reload leaves it out
          }
          for (const [server, line] of wanted) {
            if (present.has(server)) continue
            await add(backend, server, line)
            present.set(server, line)
          }
          running.set(backend, present)
        }
      }
    },
  }
}
