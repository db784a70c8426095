import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { TopicConfig } from '../config/fields.ts'

const { get, post, put, del } = resource('database')

const states = ['active', 'configuring', 'deleting', 'unknown'] as const

const TopicSummary = z.looseObject({
  name: z.string(),
  state: z.enum(states),
  replication_factor: z.int(),
  partition_count: z.int(),
})

const Partition = z.looseObject({
  id: z.int(),
  size: z.int(),
  in_sync_replicas: z.int(),
  earliest_offset: z.int(),
  consumer_groups: z.array(z.looseObject({ group_name: z.string(), offset: z.int() })).nullish(),
})

export const Topic = z.looseObject({
  name: z.string(),
  state: z.enum(states).optional(),
  replication_factor: z.int().optional(),
  partitions: z.array(Partition).nullish(),
  config: z.looseObject({}).optional(),
})
export type Topic = z.output<typeof Topic>

const Layout = {
  partition_count: z.int().min(1).max(2048).optional(),
  replication_factor: z.int().min(1).max(15).optional(),
  config: z.looseObject(TopicConfig.shape).nullish(),
}

const NewTopic = z.looseObject({ name: z.string().min(1).max(249), ...Layout })

/** The last four come from clients' shared list options; they choose nothing here. */
const TopicsQuery = Page.extend({
  with_projects: z.stringbool().optional(),
  only_deployed: z.stringbool().optional(),
  public_only: z.stringbool().optional(),
  usecases: z.union([z.string(), z.array(z.string())]).optional(),
})

const topicsPath = '/v2/databases/:id/topics'

export const topics = {
  list: get(topicsPath, { query: TopicsQuery, returns: listOf('topics', TopicSummary) }),
  create: post(topicsPath, { body: NewTopic, returns: one('topic', Topic) }),
  get: get(`${topicsPath}/:name`, { returns: one('topic', Topic) }),
  update: put(`${topicsPath}/:name`, {
    body: z.looseObject(Layout),
    returns: one('topic', Topic),
  }),
  delete: del(`${topicsPath}/:name`),
}
