import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Node } from '../local/engine.ts'
import { writeWhole } from '../local/files.ts'
import { controllerPort, innerPort, root } from './client.ts'
import { brokerOf, properties } from './settings.ts'

const jaas = (node: Node) =>
  `org.apache.kafka.common.security.plain.PlainLoginModule required username="${root}" password="${node.cluster.rootPassword}" user_${root}="${node.cluster.rootPassword}";`

/** The first node is the controller; every node is a broker. */
export const writeFiles = async (node: Node): Promise<void> => {
  const first = node.cluster.nodes[0] === node.name
  const protocols = 'INNER:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT,CLIENT:SASL_SSL'
  const listeners = [
    `CLIENT://${node.host}:${node.port}`,
    `INNER://${node.host}:${innerPort(node)}`,
    ...(first ? [`CONTROLLER://${node.host}:${controllerPort}`] : []),
  ]
  const store = join(node.dir, 'keystore.pem')
  const pem = await Promise.all([node.tls.key, node.tls.cert].map((file) => readFile(file, 'utf8')))
  await writeWhole(store, pem.join('\n'), node.as)
  const lines: Record<string, string | number> = {
    'process.roles': first ? 'broker,controller' : 'broker',
    'node.id': brokerOf(node),
    'controller.quorum.voters': `${Number(node.cluster.nodes[0]?.split('-')[1] ?? 0) + 1}@${node.host}:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'INNER',
    'listener.security.protocol.map': protocols,
    listeners: listeners.join(','),
    'advertised.listeners': [
      `CLIENT://${node.address}:${node.port}`,
      `INNER://${node.host}:${innerPort(node)}`,
    ].join(','),
    'log.dirs': node.data,
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    'listener.name.inner.plain.sasl.jaas.config': jaas(node),
    'listener.name.controller.plain.sasl.jaas.config': jaas(node),
    'listener.name.controller.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.inner.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.client.sasl.enabled.mechanisms': 'SCRAM-SHA-256',
    'listener.name.client.scram-sha-256.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': store,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': node.tls.ca,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': `User:${root};User:${node.cluster.admin.name}`,
    'allow.everyone.if.no.acl.found': 'false',
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'offsets.topic.num.partitions': 8,
    'transaction.state.log.num.partitions': 8,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'auto.create.topics.enable': 'false',
    ...properties(node.cluster.settings),
  }
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}`)
  await writeWhole(join(node.dir, 'server.properties'), `${text.join('\n')}\n`, node.as)
  await writeWhole(
    join(node.dir, 'log4j.properties'),
    'log4j.rootLogger=WARN, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\nlog4j.appender.out.layout=org.apache.log4j.PatternLayout\nlog4j.appender.out.layout.ConversionPattern=%d %p %m (%c)%n\n',
    node.as,
  )
}
