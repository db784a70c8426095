import kafkajs from 'kafkajs'
import { ApiError, messageOf } from '#core/error.ts'
import type { Settings, TopicDriver, TopicState } from '../database.ts'
import type { Node } from '../local/engine.ts'
import { withAdmin } from './client.ts'
import { natural } from './settings.ts'

/** Names and values that the API writes otherwise than the brokers. */
const nameOf = (field: string) =>
  field === 'message_down_conversion_enable'
    ? 'message.downconversion.enable'
    : field.replaceAll('_', '.')
const fieldOf = (name: string) =>
  name === 'message.downconversion.enable'
    ? 'message_down_conversion_enable'
    : name.replaceAll('.', '_')

const words: Record<string, string> = {
  compact_delete: 'compact,delete',
  create_time: 'CreateTime',
  log_append_time: 'LogAppendTime',
}
const wordOf = (value: unknown) => words[String(value)] ?? String(value)
const readable = (value: string) =>
  Object.entries(words).find(([, word]) => word === value)?.[0] ?? natural(value)

const hidden = /replication_throttled|unclean|remote_|local_/

const refused = (what: string) => (error: unknown) => {
  throw ApiError.invalid(`${what} was refused by the brokers: ${messageOf(error)}`)
}

export const kafkaTopics = (find: (id: string) => Promise<readonly Node[]>): TopicDriver => {
  const first = async (id: string): Promise<Node> => {
    const [node] = await find(id)
    if (!node) throw ApiError.notFound(`Database cluster ${id}`)
    return node
  }

  const states = async (id: string, names?: string[]): Promise<TopicState[]> =>
    withAdmin(await first(id), async (admin) => {
      const all = names ?? (await admin.listTopics()).filter((name) => !name.startsWith('__'))
      if (all.length === 0) return []
      const { topics } = await admin.fetchTopicMetadata({ topics: all })
      const configs = await admin.describeConfigs({
        resources: all.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
        includeSynonyms: false,
      })
      const { groups } = await admin.listGroups()
      return Promise.all(
        topics.map(async ({ name, partitions }) => {
          const offsets = await admin.fetchTopicOffsets(name)
          const read = await Promise.all(
            groups.map(async ({ groupId }) => ({
              group: groupId,
              topics: await admin.fetchOffsets({ groupId, topics: [name] }),
            })),
          )
          const config = configs.resources.find((one) => one.resourceName === name)
          return {
            name,
            replicas: partitions[0]?.replicas.length ?? 0,
            config: Object.fromEntries(
              (config?.configEntries ?? [])
                .map((entry): [string, unknown] => [
                  fieldOf(entry.configName),
                  readable(entry.configValue),
                ])
                .filter(([field, value]) => value !== '' && !hidden.test(field)),
            ),
            partitions: partitions
              .toSorted((a, b) => a.partitionId - b.partitionId)
              .map((partition) => {
                const range = offsets.find((one) => one.partition === partition.partitionId)
                return {
                  id: partition.partitionId,
                  bytes: 0,
                  inSync: partition.isr.length,
                  earliest: Number(range?.low ?? 0),
                  groups: read.flatMap(({ group, topics: seen }) => {
                    const at = seen[0]?.partitions.find(
                      (one) => one.partition === partition.partitionId,
                    )
                    return at && Number(at.offset) >= 0
                      ? [{ group, offset: Number(at.offset) }]
                      : []
                  }),
                }
              }),
          }
        }),
      )
    })

  const entries = (config: Settings) =>
    Object.entries(config).map(([field, value]) => ({ name: nameOf(field), value: wordOf(value) }))

  return {
    list: (id) => states(id),
    get: async (id, name) => {
      const node = await first(id)
      const names = await withAdmin(node, (admin) => admin.listTopics())
      return names.includes(name) ? (await states(id, [name]))[0] : undefined
    },
    create: async (id, topic) => {
      const nodes = await find(id)
      const replicas = topic.replicas ?? Math.min(nodes.length, 2)
      if (replicas > nodes.length)
        throw ApiError.invalid(
          `replication_factor must be at most ${nodes.length}, the number of brokers of the cluster.`,
        )
      await withAdmin(await first(id), (admin) =>
        admin.createTopics({
          waitForLeaders: true,
          topics: [
            {
              topic: topic.name,
              numPartitions: topic.partitions ?? 1,
              replicationFactor: replicas,
              configEntries: entries(topic.config ?? {}),
            },
          ],
        }),
      ).catch(refused('The topic'))
    },
    update: async (id, topic) => {
      const [now] = await states(id, [topic.name])
      if (!now) throw ApiError.notFound(`Topic ${topic.name}`)
      if (topic.replicas !== undefined && topic.replicas !== now.replicas)
        throw ApiError.invalid(
          `replication_factor stays ${now.replicas}: this Cove does not move partitions between brokers.`,
        )
      await withAdmin(await first(id), async (admin) => {
        if (topic.partitions !== undefined && topic.partitions > now.partitions.length)
          await admin.createPartitions({
            topicPartitions: [{ topic: topic.name, count: topic.partitions }],
          })
        if (!topic.config) return
        // The request replaces the topic's own settings, so those it has go along.
        const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic.name }
        const { resources } = await admin.describeConfigs({
          resources: [resource],
          includeSynonyms: false,
        })
        const own = (resources[0]?.configEntries ?? [])
          .filter((entry) => Number(entry.configSource) === 1)
          .map((entry) => ({ name: entry.configName, value: entry.configValue }))
        const changed = entries(topic.config)
        const kept = own.filter((one) => !changed.some((other) => other.name === one.name))
        await admin.alterConfigs({
          validateOnly: false,
          resources: [{ ...resource, configEntries: [...kept, ...changed] }],
        })
      }).catch(refused('The change'))
    },
    delete: async (id, name) => {
      await withAdmin(await first(id), (admin) => admin.deleteTopics({ topics: [name] }))
    },
  }
}
