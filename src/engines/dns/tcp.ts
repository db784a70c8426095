import { createServer, type Server, type Socket } from 'node:net'

/** Questions are short: whoever announces more is not asking one. */
const longestQuestion = 4096

export interface TcpLimits {
  connections: number
  /** ms in which a question must be complete and the next one must begin */
  patience: number
}

export const defaultTcpLimits: TcpLimits = { connections: 512, patience: 5_000 }

/** DNS over TCP: each message has its length before it, and one connection may carry several. */
export const createTcpServer = (
  reply: (request: Buffer) => Buffer | undefined,
  limits: TcpLimits,
): Server => {
  const server = createServer({ noDelay: true }, (socket) =>
    converse(socket, reply, limits.patience),
  )
  server.maxConnections = limits.connections
  return server
}

const converse = (
  socket: Socket,
  reply: (request: Buffer) => Buffer | undefined,
  patience: number,
): void => {
  let held: Buffer = Buffer.alloc(0)
  // Not an idle timer: a client that sends a byte now and then would reset that for ever.
  let deadline = setTimeout(() => socket.destroy(), patience)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => clearTimeout(deadline))
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    while (held.length >= 2) {
      const length = held.readUInt16BE(0)
      if (length > longestQuestion || length < 12) return void socket.destroy()
      if (held.length < length + 2) return
      const response = reply(held.subarray(2, length + 2))
      held = held.subarray(length + 2)
      if (!response) return void socket.destroy()
      const size = Buffer.alloc(2)
      size.writeUInt16BE(response.length)
      // A client that asks and does not read must not fill our memory.
      if (!socket.write(Buffer.concat([size, response])) && socket.writableLength > 1 << 20) {
        return void socket.destroy()
      }
      clearTimeout(deadline)
      deadline = setTimeout(() => socket.destroy(), patience)
    }
  })
}
