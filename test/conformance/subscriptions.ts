import { once } from 'node:events'
import { type Context, type Handler, isObject, type JsonObject } from '#mcp/protocol.ts'

const announcements = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
} as const
type Topic = keyof typeof announcements

export interface Subscriptions {
  methods: Record<string, Handler>
  announce(topic: Topic): void
}

/** Streams that stay open and tell of changes, in the form of 2026-07-28. */
export const createSubscriptions = (): Subscriptions => {
  const listeners = new Set<{ context: Context; topics: Topic[] }>()
  const metaOf = ({ id }: Context): JsonObject => ({
    _meta: { 'io.modelcontextprotocol/subscriptionId': id },
  })
  const listen: Handler = async ({ notifications }, context) => {
    const wanted = isObject(notifications) ? notifications : {}
    const topics = (['toolsListChanged', 'promptsListChanged'] as const).filter(
      (topic) => wanted[topic] === true,
    )
    const granted = Object.fromEntries(topics.map((topic) => [topic, true]))
    context.notify('notifications/subscriptions/acknowledged', {
      ...metaOf(context),
      notifications: granted,
    })
    const listener = { context, topics }
    listeners.add(listener)
    await once(context.signal, 'abort')
    listeners.delete(listener)
    return metaOf(context)
  }
  return {
    methods: { 'subscriptions/listen': listen },
    announce(topic) {
      for (const { context, topics } of listeners)
        if (topics.includes(topic)) context.notify(announcements[topic], metaOf(context))
    },
  }
}
