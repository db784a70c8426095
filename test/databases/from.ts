import { type NetConnectOpts, Socket } from 'node:net'

/** A socket that leaves from a given address, for clients that take a socket of one's own. */
export const fromAddress = (address: string): Socket => {
  const socket = new Socket()
  const connect = socket.connect.bind(socket)
  socket.connect = ((port: number, host: string) =>
    connect({ port, host, localAddress: address } as NetConnectOpts)) as Socket['connect']
  return socket
}
