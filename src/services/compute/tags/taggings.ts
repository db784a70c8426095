import type { Store } from '#platform/store/store.ts'
import { touchFirewalls } from '../../networking/firewalls/links.ts'
import { stir } from '../../networking/load-balancers/records.ts'
import { type Tagging, taggings, tagNames } from './contract.ts'

type Kind = Tagging['resource_type']

const keyOf = (tag: string, kind: Kind, id: string) => `${tag} ${kind} ${id}`

/** Let a resource carry exactly these tags; tags that do not exist yet are made. */
export const setTags = async (store: Store, kind: Kind, id: string, wanted: readonly string[]) => {
  const table = store.collection(taggings)
  const present = await table.list({ where: { resource_type: kind, resource_id: id } })
  for (const { tag } of present) if (!wanted.includes(tag)) await removeTag(store, kind, id, tag)
  for (const tag of wanted) await addTag(store, kind, id, tag)
}

export const addTag = async (store: Store, kind: Kind, id: string, tag: string) => {
  await store.collection(tagNames).put({ name: tag })
  const key = keyOf(tag, kind, id)
  await store.collection(taggings).put({ key, tag, resource_type: kind, resource_id: id })
  await stir(store, (balancer) => balancer.tag === tag)
  if (kind === 'droplet') await touchFirewalls(store, [`tag:${tag}`])
}

export const removeTag = async (store: Store, kind: Kind, id: string, tag: string) => {
  await store.collection(taggings).remove(keyOf(tag, kind, id))
  await stir(store, (balancer) => balancer.tag === tag)
  if (kind === 'droplet') await touchFirewalls(store, [`tag:${tag}`])
}

export const tagsOf = async (store: Store, kind: Kind, id: string): Promise<string[]> => {
  const found = await store
    .collection(taggings)
    .list({ where: { resource_type: kind, resource_id: id } })
  return found.map((tagging) => tagging.tag)
}

/** The ids of the resources of a kind that carry any of the tags. */
export const taggedWith = async (store: Store, kind: Kind, tags: readonly string[]) => {
  if (tags.length === 0) return []
  const found = await store.collection(taggings).list({ where: { tag: tags, resource_type: kind } })
  return [...new Set(found.map((tagging) => tagging.resource_id))]
}
