import { BlockList, connect, createServer, type Server, type Socket } from 'node:net'
import type { Door, Gate } from './gate.ts'

interface Open {
  door: Door
  allowed: (source: string) => boolean
  servers: Server[]
  clients: Set<Socket>
}

/** Without rights on the kernel: servers listen on an inner address and Cove passes bytes on. */
export const proxyGate = (reason?: string): Gate => {
  const open = new Map<string, Open>()
  const by = reason === undefined ? 'the proxy' : `the proxy (no kernel filter: ${reason})`
  const inner = (address: string) => {
    const [, b = 0, ...rest] = address.split('.').map(Number)
    return ['127', b + 32, ...rest].join('.')
  }
  const shut = async (id: string) => {
    const it = open.get(id)
    if (!it) return
    open.delete(id)
    for (const client of it.clients) client.destroy()
    await Promise.all(it.servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
  const serve = (it: Open, port: number) =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
        if (!it.allowed(client.remoteAddress ?? '')) return client.resetAndDestroy()
        const target = connect({
          host: inner(it.door.address),
          port,
          noDelay: true,
          allowHalfOpen: true,
        })
        it.clients.add(client)
        const end = () => {
          it.clients.delete(client)
          client.destroy()
          target.destroy()
        }
        client.on('error', end).on('close', end).pipe(target)
        target.on('error', end).on('close', end).pipe(client)
      })
      server.once('error', reject)
      server.listen(port, it.door.address, () => resolve(server))
    })
  return {
    kind: 'proxy',
    inner,
    set: async (id, door) => {
      const it = open.get(id)
      if (it && it.door.ports.join() === door.ports.join()) {
        it.door = door
        it.allowed = allows(door)
        for (const client of it.clients)
          if (!it.allowed(client.remoteAddress ?? '')) client.resetAndDestroy()
        return { enforced: true, by }
      }
      await shut(id)
      const fresh: Open = { door, allowed: allows(door), servers: [], clients: new Set() }
      open.set(id, fresh)
      fresh.servers = await Promise.all(door.ports.map((port) => serve(fresh, port)))
      return { enforced: true, by }
    },
    clear: shut,
    close: async () => {
      await Promise.all([...open.keys()].map(shut))
    },
  }
}

const allows = ({ address, sources }: Door): ((source: string) => boolean) => {
  if (sources === 'anyone') return () => true
  const list = new BlockList()
  list.addAddress(address)
  for (const source of sources) {
    const [net = '', bits = '32'] = source.split('/')
    list.addSubnet(net, Number(bits))
  }
  return (source) => list.check(source.replace(/^::ffff:/, ''))
}
