import { connect as connectSocket } from 'node:net'
import kafkajs, { type Admin } from 'kafkajs'
import type { Node } from '../local/engine.ts'

/** Cove's own account on the inner listener; customers never get it. */
export const root = 'cove'

/** Ports beside the one customers use: brokers among themselves and Cove, and the controller. */
export const innerPort = (node: Node) => node.port + 100
export const controllerPort = 25_260

/** A session over the inner listener, from the cluster's own address, closed afterwards. */
export const withAdmin = async <T>(node: Node, work: (admin: Admin) => Promise<T>): Promise<T> => {
  const kafka = new kafkajs.Kafka({
    clientId: 'cove',
    brokers: [`${node.host}:${innerPort(node)}`],
    sasl: { mechanism: 'plain', username: root, password: node.cluster.rootPassword },
    ssl: false,
    connectionTimeout: 3000,
    retry: { retries: 2, initialRetryTime: 100 },
    logLevel: kafkajs.logLevel.NOTHING,
    socketFactory: ({ host, port, onConnect }) => {
      const socket = connectSocket({ host, port, localAddress: node.host }, onConnect)
      return socket.setKeepAlive(true, 60_000)
    },
  })
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}
