import type { Store } from '#platform/store/store.ts'
import { type FirewallRecord, firewallLinks, firewallRecords, linksOf } from './records.ts'

/** Writes a firewall with the links that follow from it; it then waits to be put in force. */
export const writeFirewall = async (tx: Store, record: FirewallRecord): Promise<FirewallRecord> => {
  const links = tx.collection(firewallLinks)
  const wanted = new Map(linksOf(record).map((link) => [link.key, link]))
  for (const { key } of await links.list({ where: { firewall: record.id } })) {
    if (!wanted.delete(key)) await links.remove(key)
  }
  for (const link of wanted.values()) await links.put(link)
  return tx
    .collection(firewallRecords)
    .put({ ...record, status: 'waiting', revision: record.revision + 1 })
}

export const removeFirewall = async (tx: Store, id: string): Promise<void> => {
  const links = tx.collection(firewallLinks)
  for (const { key } of await links.list({ where: { firewall: id } })) await links.remove(key)
  await tx.collection(firewallRecords).remove(id)
}

/** The firewalls that name any of these: `tag:web`, `droplet:12`. */
const naming = async (tx: Store, targets: readonly string[]): Promise<string[]> => {
  if (targets.length === 0) return []
  const links = await tx.collection(firewallLinks).list({ where: { target: targets } })
  return [...new Set(links.map(({ firewall }) => firewall))]
}

/** What a firewall names has changed, so its effect must be brought about anew. */
export const touchFirewalls = async (tx: Store, targets: readonly string[]): Promise<void> => {
  for (const id of await naming(tx, targets)) {
    await tx.collection(firewallRecords).update(id, (current) => ({
      ...current,
      status: 'waiting',
      revision: current.revision + 1,
    }))
  }
}

/** The firewalls attached to an instance, by itself or by a tag. */
export const firewallsBefore = async (
  store: Store,
  id: number,
  tags: readonly string[],
): Promise<FirewallRecord[]> => {
  const target = [`droplet:${id}`, ...tags.map((tag) => `tag:${tag}`)]
  const links = await store.collection(firewallLinks).list({ where: { target, attached: true } })
  const found = [...new Set(links.map(({ firewall }) => firewall))]
  return found.length === 0 ? [] : store.collection(firewallRecords).list({ where: { id: found } })
}

/** A deleted instance or tag stands behind no firewall any more. */
export const detachFromAll = async (
  tx: Store,
  gone: { droplet?: number; tag?: string },
): Promise<void> => {
  const target = gone.droplet === undefined ? `tag:${gone.tag}` : `droplet:${gone.droplet}`
  for (const id of await naming(tx, [target])) {
    const record = await tx.collection(firewallRecords).require(id)
    await writeFirewall(tx, {
      ...record,
      droplet_ids: record.droplet_ids.filter((each) => each !== gone.droplet),
      tags: record.tags.filter((each) => each !== gone.tag),
    })
  }
}
