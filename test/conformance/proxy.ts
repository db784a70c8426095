import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** The suite cannot send a token, so it talks to this: the same request, with the token. */
export const startProxy = (
  target: number,
  token: string,
): Promise<{ port: number; stop(): void }> => {
  const server = http.createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const forward = http.request(
      {
        port: target,
        method,
        path: url,
        headers: { ...headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    outgoing.on('close', () => forward.destroy())
    forward.on('error', () => outgoing.destroy())
    incoming.pipe(forward)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve({ port, stop: () => server.close() })
    })
  })
}
