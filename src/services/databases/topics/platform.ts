import { ApiError } from '#core/error.ts'
import type { TopicDriver, TopicState } from '#engines/database.ts'
import { pageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { clusterAccess, type DatabaseEngines } from '../access.ts'
import { type Topic, topics } from './contract.ts'

export const topicService =
  (engines: DatabaseEngines): Service =>
  (on, { store }) => {
    const access = clusterAccess(store, engines)

    const topicsOf = async (id: string): Promise<TopicDriver> => {
      const { record, driver } = await access.running(id)
      if (!driver.topics)
        throw ApiError.invalid(`Cluster ${id} is a ${record.engine} cluster; topics are for kafka.`)
      return driver.topics
    }
    const topicOf = async (id: string, name: string) => {
      const driver = await topicsOf(id)
      const found = await driver.get(id, name)
      if (!found) throw ApiError.notFound(`Topic ${name}`)
      return { driver, topic: asTopic(found), found }
    }

    on(topics.list, async ({ path, query }) => {
      const all = await (await topicsOf(path.id)).list(path.id)
      const items = all.map((topic) => ({
        name: topic.name,
        state: 'active' as const,
        replication_factor: topic.replicas,
        partition_count: topic.partitions.length,
      }))
      return pageOfItems('topics', items, query)
    })

    on(topics.get, async ({ path }) => ({ topic: (await topicOf(path.id, path.name)).topic }))

    on(topics.create, async ({ path, body }) => {
      const driver = await topicsOf(path.id)
      if (!/^[A-Za-z0-9._-]{1,249}$/.test(body.name) || /^\.{1,2}$/.test(body.name))
        throw ApiError.invalid('name must be 1 to 249 letters, digits, ".", "_" or "-".')
      if (await driver.get(path.id, body.name))
        throw ApiError.invalid(`name ${body.name} is taken by another topic.`)
      await driver.create(path.id, specOf(body.name, body))
      return { topic: (await topicOf(path.id, body.name)).topic }
    })

    on(topics.update, async ({ path, body }) => {
      const { driver, found } = await topicOf(path.id, path.name)
      if (body.partition_count !== undefined && body.partition_count < found.partitions.length)
        throw ApiError.invalid(
          `partition_count must be at least ${found.partitions.length}: partitions cannot be taken away.`,
        )
      await driver.update(path.id, specOf(path.name, body))
      return { topic: (await topicOf(path.id, path.name)).topic }
    })

    on(topics.delete, async ({ path }) => {
      const { driver } = await topicOf(path.id, path.name)
      await driver.delete(path.id, path.name)
    })
  }

const specOf = (
  name: string,
  body: {
    partition_count?: number | undefined
    replication_factor?: number | undefined
    config?: Record<string, unknown> | null | undefined
  },
) => ({
  name,
  ...(body.partition_count === undefined ? {} : { partitions: body.partition_count }),
  ...(body.replication_factor === undefined ? {} : { replicas: body.replication_factor }),
  ...(body.config ? { config: body.config } : {}),
})

const asTopic = (topic: TopicState): Topic => ({
  name: topic.name,
  state: 'active',
  replication_factor: topic.replicas,
  partitions: topic.partitions.map((partition) => ({
    id: partition.id,
    size: partition.bytes,
    in_sync_replicas: partition.inSync,
    earliest_offset: partition.earliest,
    consumer_groups: partition.groups.map(({ group, offset }) => ({ group_name: group, offset })),
  })),
  config: topic.config,
})
