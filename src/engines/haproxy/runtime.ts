import { connect } from 'node:net'

/** One command to a socket of HAProxy and the text it answers. */
export const command = (socket: string, text: string, timeout = 5_000): Promise<string> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const connection = connect(socket)
    connection.setTimeout(timeout, () =>
      connection.destroy(new Error(`HAProxy did not answer "${firstLine(text)}" in time.`)),
    )
    connection.on('connect', () => connection.end(`${text}\n`))
    connection.on('data', (part: Buffer) => parts.push(part))
    connection.on('error', reject)
    connection.on('close', () => resolve(Buffer.concat(parts).toString()))
  })

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/** Commands that must all be accepted; what HAProxy objects to is thrown. */
export const commands = async (socket: string, lines: readonly string[]): Promise<void> => {
  for (const line of lines) {
    const said = (await command(socket, line)).trim()
    if (said !== '' && !accepted.test(said)) {
      throw new Error(`HAProxy refused "${firstLine(line)}": ${said}`)
    }
  }
}

/** HAProxy confirms some commands in words. */
const accepted =
  /^(New server registered|Server deleted|Transaction (created|updated)|Committing|Success|\.+)/m

export interface Worker {
  pid: number
  /** An old one only ends the connections it has. */
  old: boolean
}

/** Master process and workers, as the master's socket tells them. */
export const processes = async (master: string): Promise<{ master: number; workers: Worker[] }> => {
  let old = false
  let pid = 0
  const workers: Worker[] = []
  for (const line of (await command(master, 'show proc')).split('\n')) {
    if (line.startsWith('# old workers')) old = true
    const row = /^(\d+)\s+(master|worker)\b/.exec(line)
    if (row?.[2] === 'master') pid = Number(row[1])
    else if (row) workers.push({ pid: Number(row[1]), old })
  }
  return { master: pid, workers }
}
