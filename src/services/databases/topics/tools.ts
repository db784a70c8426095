import { commaList, flagText, intText, settings, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { id, pageOf, paging } from '../args.ts'
import { TopicConfig } from '../config/fields.ts'
import { topics } from './contract.ts'

const name = text('Topic name')

const layout = {
  partition_count: intText('Partitions, such as 3', 1).optional(),
  replication_factor: intText('Copies, such as 2', 1).optional(),
}

const config = settings('Topic settings', TopicConfig.def.shape)
const changes = settings('By the names that db-cluster-get-topic shows', TopicConfig.def.shape, [])

interface Layout {
  partition_count?: number | undefined
  replication_factor?: number | undefined
  config?: Record<string, unknown> | undefined
}

const layoutOf = (args: Layout) => ({
  ...(args.partition_count === undefined ? {} : { partition_count: args.partition_count }),
  ...(args.replication_factor === undefined ? {} : { replication_factor: args.replication_factor }),
  ...(args.config === undefined ? {} : { config: args.config }),
})

export const topicTools = {
  'db-cluster-list-topics': call(topics.list, {
    title: 'List topics',
    about: 'List the topics of a Kafka cluster.',
    args: {
      id,
      ...paging,
      with_projects: flagText('Include project fields').optional(),
      only_deployed: flagText('Only deployed ones').optional(),
      public_only: flagText('Only public ones').optional(),
      usecases: commaList('Comma-separated').optional(),
    },
    request: (a) => ({
      path: { id: a.id },
      query: {
        ...pageOf(a),
        ...flags({
          with_projects: a.with_projects,
          only_deployed: a.only_deployed,
          public_only: a.public_only,
        }),
        ...(a.usecases === undefined ? {} : { usecases: a.usecases }),
      },
    }),
  }),

  'db-cluster-create-topic': call(topics.create, {
    title: 'Create topic',
    about: 'Create a topic in a Kafka cluster.',
    args: { id, name, ...layout, config: config.optional() },
    request: (a) => ({ path: { id: a.id }, body: { name: a.name, ...layoutOf(a) } }),
  }),

  'db-cluster-get-topic': call(topics.get, {
    title: 'Get topic',
    about: 'Get a Kafka topic with its partitions and settings.',
    args: { id, name },
    request: (a) => ({ path: { id: a.id, name: a.name } }),
  }),

  'db-cluster-delete-topic': call(topics.delete, {
    title: 'Delete topic',
    about: 'Delete a Kafka topic with its messages.',
    args: { id, name },
    request: (a) => ({ path: { id: a.id, name: a.name } }),
  }),

  'db-cluster-update-topic': call(topics.update, {
    title: 'Update topic',
    about: 'Add partitions to a Kafka topic, or change its copies or settings.',
    args: { id, name, ...layout, config: changes.optional() },
    request: (a) => ({ path: { id: a.id, name: a.name }, body: layoutOf(a) }),
  }),
}

const flags = (given: Record<string, boolean | undefined>) =>
  Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)]],
    ),
  )
