import { ApiError } from '#core/error.ts'
import { pageOf } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { detachFromAll } from '../../networking/firewalls/links.ts'
import { dropletRecords } from '../droplets/contract.ts'
import { taggings, tagNames, tags } from './contract.ts'
import { addTag, removeTag } from './taggings.ts'

export const tagService: Service = (on, { store }) => {
  const names = store.collection(tagNames)
  const links = store.collection(taggings)

  const described = async (name: string, origin: string) => {
    const carriers = await links.list({ where: { tag: name } })
    const part = (kind: 'droplet' | 'database') => {
      const of = carriers.filter((link) => link.resource_type === kind)
      const last = of.at(-1)
      return {
        count: of.length,
        ...(last ? { last_tagged_uri: `${origin}/v2/${kind}s/${last.resource_id}` } : {}),
      }
    }
    return {
      name,
      resources: {
        count: carriers.length,
        droplets: part('droplet'),
        databases: part('database'),
      },
    }
  }

  on(tags.list, async ({ query, origin }) => {
    const page = await pageOf('tags', names, query)
    return {
      ...page,
      tags: await Promise.all(page.tags.map(({ name }) => described(name, origin))),
    }
  })

  on(tags.get, async ({ path, origin }) => {
    await names.require(path.name)
    return { tag: await described(path.name, origin) }
  })

  on(tags.create, async ({ body, origin }) => {
    await names.put({ name: body.name })
    return { tag: await described(body.name, origin) }
  })

  on(tags.delete, async ({ path }) => {
    await names.require(path.name)
    await store.transaction(async (tx) => {
      const table = tx.collection(taggings)
      for (const { resource_type, resource_id } of await table.list({
        where: { tag: path.name },
      })) {
        await removeTag(tx, resource_type, resource_id, path.name)
      }
      await tx.collection(tagNames).remove(path.name)
      await detachFromAll(tx, { tag: path.name })
    })
  })

  /** Something that does not exist cannot carry a tag. */
  const checkCarriers = async (
    carriers: readonly { resource_type: string; resource_id: string }[],
  ) => {
    for (const { resource_type, resource_id } of carriers) {
      if (resource_type === 'droplet')
        await store.collection(dropletRecords).require(Number(resource_id))
    }
  }

  on(tags.assign, async ({ path, body }) => {
    await names.require(path.name)
    await checkCarriers(body.resources)
    await store.transaction(async (tx) => {
      for (const { resource_type, resource_id } of body.resources) {
        await addTag(tx, resource_type, resource_id, path.name)
      }
    })
  })

  on(tags.unassign, async ({ path, body }) => {
    if (!(await names.get(path.name))) throw ApiError.notFound(`Tag ${path.name}`)
    await store.transaction(async (tx) => {
      for (const { resource_type, resource_id } of body.resources) {
        await removeTag(tx, resource_type, resource_id, path.name)
      }
    })
  })
}
