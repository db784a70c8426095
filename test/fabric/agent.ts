/**
 * A program that runs in an instance and does there what it is told, a JSON line each. Its text is
 * given to `node -e`, so it may use nothing from outside itself.
 */
export const agent = (require: NodeJS.Require) => {
  const net: typeof import('node:net') = require('node:net')
  const dgram: typeof import('node:dgram') = require('node:dgram')
  const { execFile }: typeof import('node:child_process') = require('node:child_process')
  const lines = require('node:readline').createInterface({ input: process.stdin })
  const held = new Map<number, import('node:net').Socket>()

  interface Order {
    host: string
    port: number
    from?: string
    wait: number
    name: string
    socket: number
    text: string
    bytes: number
    args: string[]
    ports: [host: string, port: number, id: string][]
    local: number
  }
  const family = (host: string) => (host.includes(':') ? 'udp6' : 'udp4')
  const open = (
    { host, port, from, wait }: Order,
    done: (said: string, of?: import('node:net').Socket) => void,
  ) => {
    const socket = net.connect({ host, port, ...(from && { localAddress: from }) })
    const timer = setTimeout(() => {
      socket.destroy()
      done('silent')
    }, wait)
    socket.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      done(
        error.code === 'ECONNREFUSED'
          ? 'refused'
          : error.code === 'ETIMEDOUT'
            ? 'silent'
            : String(error.code),
      )
    })
    socket.once('data', (data) => {
      clearTimeout(timer)
      done(String(data).trim(), socket)
    })
  }
  const acts: Record<string, (order: Order, done: (said: unknown) => void) => void> = {
    /** Says who it is and whom it sees, then echoes. */
    serve: ({ port, name }, done) => {
      const server = net.createServer((socket) => {
        socket.on('error', () => {})
        socket.write(`${name} sees ${socket.remoteAddress?.replace('::ffff:', '')}\n`)
        socket.on('data', (data) => socket.write(data))
      })
      server.listen({ port, host: '::' }, () => done('listening'))
    },
    'serve-http': ({ port, name }, done) => {
      const http: typeof import('node:http') = require('node:http')
      const server = http.createServer((request, response) =>
        response.end(`${name} sees ${request.socket.remoteAddress}`),
      )
      server.listen({ port, host: '::' }, () => done('listening'))
    },
    /** Sends many bytes, slowly. */
    source: ({ port, bytes, name }, done) => {
      const server = net.createServer((socket) => {
        socket.on('error', () => {})
        let left = bytes
        const timer = setInterval(() => {
          const part = Math.min(left, 64 * 1024)
          left -= part
          socket.write(name.repeat(part))
          if (left > 0) return
          clearInterval(timer)
          socket.end()
        }, 5)
      })
      server.listen({ port, host: '::' }, () => done('listening'))
    },
    download: ({ host, port }, done) => {
      const socket = net.connect({ host, port })
      const seen: Record<string, number> = {}
      socket.on('data', (data) => {
        const letter = String.fromCharCode(data[0] ?? 0)
        seen[letter] = (seen[letter] ?? 0) + data.length
      })
      socket.once('error', (error) => done({ ...seen, error: error.message }))
      socket.once('close', () => done(seen))
    },
    'serve-udp': ({ port, name }, done) => {
      const socket = dgram.createSocket('udp6')
      socket.on('message', (_data, from) => {
        socket.send(`${name} sees ${from.address.replace('::ffff:', '')}`, from.port, from.address)
      })
      socket.bind(port, '::', () => done('listening'))
    },
    tcp: (order, done) =>
      open(order, (said, socket) => {
        socket?.destroy()
        done(said)
      }),
    udp: ({ host, port, wait }, done) => {
      const socket = dgram.createSocket(family(host))
      const end = (said: string) => {
        clearTimeout(timer)
        socket.close()
        done(said)
      }
      const timer = setTimeout(() => end('silent'), wait)
      socket.once('message', (data) => end(String(data)))
      socket.once('error', (error) => end(error.message))
      socket.send('hello', port, host)
    },
    hold: (order, done) =>
      open(order, (said, socket) => {
        if (socket) held.set(order.socket, socket)
        done(said)
      }),
    say: ({ socket, text, wait }, done) => {
      const timer = setTimeout(() => done('silent'), wait)
      held.get(socket)?.once('data', (data) => {
        clearTimeout(timer)
        done(String(data))
      })
      held.get(socket)?.write(text)
    },
    /** Listens on many ports and tells, when asked, which messages came. */
    collect: ({ ports }, done) => {
      for (const [host, port] of ports) {
        const socket = dgram.createSocket(family(host))
        socket.on('message', (data) => arrived.add(String(data)))
        socket.bind(port, host)
      }
      done('listening')
    },
    shower: ({ ports, local }, done) => {
      const sockets = new Map<string, import('node:dgram').Socket>()
      for (const kind of ['udp4', 'udp6'] as const) {
        const socket = dgram.createSocket({ type: kind, ipv6Only: kind === 'udp6' })
        socket.bind(local)
        socket.on('error', () => {})
        sockets.set(kind, socket)
      }
      let left = ports.length
      for (const [host, port, id] of ports) {
        sockets.get(family(host))?.send(id, port, host, () => {
          if (--left > 0) return
          for (const socket of sockets.values()) socket.close()
          done('sent')
        })
      }
    },
    /** Which of many connections were answered at all, be it by a refusal. */
    tcps: ({ ports, wait }, done) => {
      const answered: string[] = []
      let left = ports.length
      for (const [host, port, id] of ports) {
        const socket = net.connect({ host, port })
        const end = (got: boolean) => {
          clearTimeout(timer)
          socket.removeAllListeners()
          socket.on('error', () => {})
          socket.destroy()
          if (got) answered.push(id)
          if (--left === 0) done(answered)
        }
        const timer = setTimeout(() => end(false), wait)
        socket.once('connect', () => end(true))
        socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'))
      }
      if (left === 0) done(answered)
    },
    pings: ({ ports }, done) => {
      const answered: string[] = []
      let left = ports.length
      for (const [host, , id] of ports) {
        execFile('ping', ['-n', '-c', '1', '-W', '0.5', host], (error) => {
          if (!error) answered.push(id)
          if (--left === 0) done(answered)
        })
      }
    },
    arrived: (_order, done) => {
      done([...arrived])
      arrived.clear()
    },
    run: ({ args: [program = '', ...args] }, done) =>
      void execFile(program, args, (error, out, err) =>
        done({ status: error ? (error.code ?? 1) : 0, out, err }),
      ),
  }
  const arrived = new Set<string>()
  lines.on('line', (line: string) => {
    const { id, act, ...order } = JSON.parse(line)
    acts[act]?.({ wait: 400, ...order }, (said) =>
      process.stdout.write(`${JSON.stringify({ id, said })}\n`),
    )
  })
  lines.on('close', () => process.exit(0))
}
