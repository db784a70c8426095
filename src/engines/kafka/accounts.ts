import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import kafkajs, { type Admin } from 'kafkajs'
import type { UserSpec } from '../database.ts'
import type { Node } from '../local/engine.ts'
import { exists, writeWhole } from '../local/files.ts'
import { run } from '../local/run.ts'
import { innerPort, root, withAdmin } from './client.ts'

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs

/** One of Kafka's own programs. */
export const tool = async (node: Node, main: string, args: readonly string[]): Promise<string> =>
  run({
    argv: ['java', '-Xmx128m', '-XX:TieredStopAtLevel=1', '-cp', classPath(node), main, ...args],
    as: node.as,
    cwd: node.dir,
    env: { HOME: node.dir },
  })

export const classPath = (node: Node) => join(node.release.bin, 'libs', '*')

/** Credentials are set by Kafka's own program, since no protocol library for Node knows that request. */
const configureUser = async (node: Node, name: string, change: readonly string[]) => {
  const file = join(node.dir, 'admin.properties')
  if (!(await exists(file)))
    await writeWhole(
      file,
      [
        'security.protocol=SASL_PLAINTEXT',
        'sasl.mechanism=PLAIN',
        `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="${root}" password="${node.cluster.rootPassword}";`,
        '',
      ].join('\n'),
      node.as,
    )
  const server = ['--bootstrap-server', `${node.host}:${innerPort(node)}`]
  const who = ['--command-config', file, '--entity-type', 'users', '--entity-name', name]
  await tool(node, 'kafka.admin.ConfigCommand', [...server, ...who, '--alter', ...change])
}

const operations: Record<string, readonly kafkajs.AclOperationTypes[]> = {
  admin: [AclOperationTypes.ALL],
  consume: [AclOperationTypes.READ, AclOperationTypes.DESCRIBE],
  produce: [AclOperationTypes.WRITE, AclOperationTypes.DESCRIBE],
  produceconsume: [AclOperationTypes.READ, AclOperationTypes.WRITE, AclOperationTypes.DESCRIBE],
}

/** `orders-*` means every topic that begins so; `*` alone means every topic. */
const pattern = (topic: string) =>
  topic.length > 1 && topic.endsWith('*')
    ? { resourceName: topic.slice(0, -1), resourcePatternType: ResourcePatternTypes.PREFIXED }
    : { resourceName: topic, resourcePatternType: ResourcePatternTypes.LITERAL }

const rightsOf = (user: UserSpec) => {
  const common = {
    principal: `User:${user.name}`,
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
  }
  const topics = (user.topicRights ?? []).flatMap(({ topic, permission }) =>
    (operations[permission] ?? []).map((operation) => ({
      ...common,
      ...pattern(topic),
      resourceType: AclResourceTypes.TOPIC,
      operation,
    })),
  )
  const reads = (user.topicRights ?? []).some(({ permission }) => permission !== 'produce')
  const groups = {
    ...common,
    resourceType: AclResourceTypes.GROUP,
    resourceName: '*',
    resourcePatternType: ResourcePatternTypes.LITERAL,
    operation: AclOperationTypes.READ,
  }
  return reads ? [...topics, groups] : topics
}

const forget = (admin: Admin, name: string) =>
  admin.deleteAcls({
    filters: [
      {
        resourceType: AclResourceTypes.ANY,
        resourcePatternType: ResourcePatternTypes.ANY,
        principal: `User:${name}`,
        operation: AclOperationTypes.ANY,
        permissionType: AclPermissionTypes.ANY,
      },
    ],
  })

export const putUser = async (node: Node, user: UserSpec): Promise<void> => {
  const secret = `SCRAM-SHA-256=[iterations=4096,password=${user.password}]`
  const known = (await listUsers(node)).includes(user.name) && (await passwordIs(node, user))
  if (!known) await configureUser(node, user.name, ['--add-config', secret])
  await rememberUser(node, user)
  await withAdmin(node, async (admin) => {
    await forget(admin, user.name)
    const acl = rightsOf(user)
    if (acl.length > 0) await admin.createAcls({ acl })
  })
}

export const deleteUser = async (node: Node, name: string): Promise<void> => {
  await configureUser(node, name, ['--delete-config', 'SCRAM-SHA-256'])
  await withAdmin(node, (admin) => forget(admin, name))
  await run({ argv: ['rm', '-f', join(node.dir, 'users', name)] })
}

/** Names are kept in the node's folder beside the brokers' own record, which only they can list. */
const folder = (node: Node) => join(node.dir, 'users')

const rememberUser = async (node: Node, user: UserSpec) => {
  await run({ argv: ['mkdir', '-p', '-m', '700', folder(node)] })
  await writeWhole(join(folder(node), user.name), user.password)
}

const passwordIs = async (node: Node, user: UserSpec) =>
  (await run({ argv: ['cat', join(folder(node), user.name)] })) === user.password

export const listUsers = async (node: Node): Promise<string[]> =>
  readdir(folder(node)).catch(() => [])
