import { connect, type Server } from 'node:net'

/** Runs in the network of a host: takes connections of a door outside and makes them from inside. */
process.on('message', ({ address, port }: { address: string; port: number }, door: Server) => {
  door.on('connection', (outside) => {
    const inside = connect({ host: address, port })
    outside.pipe(inside)
    inside.pipe(outside)
    const end = () => {
      outside.destroy()
      inside.destroy()
    }
    outside.on('error', end)
    inside.on('error', end)
    outside.on('close', end)
    inside.on('close', end)
  })
})

process.on('disconnect', () => process.exit())
