import { ApiError } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { clusterAccess, type DatabaseEngines } from '../access.ts'
import { databaseFirewall, type TrustedSource } from './contract.ts'
import { checkSource, sourcesOf } from './sources.ts'

export const databaseFirewallService =
  (engines: DatabaseEngines): Service =>
  (on, { store, clock, ids }) => {
    const access = clusterAccess(store, engines)

    on(databaseFirewall.get, async ({ path }) => ({ rules: (await access.find(path.id)).rules }))

    on(databaseFirewall.update, async ({ path, body, note }) => {
      const { record, driver } = await access.running(path.id)
      const given = body.rules ?? []
      for (const [index, rule] of given.entries()) await checkSource(store, rule, `rules[${index}]`)
      const known = new Map(record.rules.map((rule) => [`${rule.type} ${rule.value}`, rule]))
      const rules = given.map((rule): TrustedSource => {
        const same = known.get(`${rule.type} ${rule.value}`)
        return {
          uuid: rule.uuid ?? same?.uuid ?? ids.uuid(),
          cluster_uuid: record.id,
          type: rule.type,
          value: rule.value,
          ...(rule.description ? { description: rule.description } : {}),
          created_at: same?.created_at ?? timestamp(clock),
        }
      })
      if (new Set(rules.map((rule) => `${rule.type} ${rule.value}`)).size < rules.length)
        throw ApiError.invalid('rules must not name the same source twice.')
      await access.table.update(record.id, (current) => ({ ...current, rules }))
      const gate = await driver.admit(record.id, async () =>
        sourcesOf(store, (await access.find(record.id)).rules),
      )
      if (!gate.enforced) note(`The rules are recorded and not in force: ${gate.by}`)
      for (const rule of rules)
        if (rule.type === 'app' || rule.type === 'k8s')
          note(
            `This Cove runs no ${rule.type === 'app' ? 'apps' : 'Kubernetes clusters'}, so ${rule.value} admits nobody.`,
          )
    })
  }
