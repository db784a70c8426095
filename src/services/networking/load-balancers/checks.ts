import { randomInt } from 'node:crypto'
import { ApiError } from '#core/error.ts'
import { issuesOf } from '#core/schema.ts'
import type { Store } from '#platform/store/store.ts'
import { dropletRecords } from '../../compute/droplets/contract.ts'
import { certificateRecords } from '../certificates/records.ts'
import type { BalancerSettings } from './contract.ts'
import { type BalancerState, balancerRecords, certificatesOf } from './records.ts'
import { type ForwardingRule, ForwardingRules, sameRule } from './rule.ts'

/** Instances of a tag come and go with it alone. */
export const refuseTagged = ({ tag }: BalancerSettings): void => {
  if (!tag) return
  throw ApiError.invalid(
    `The instances of this load balancer are those tagged ${tag}; change their tags.`,
  )
}

export const checkedRules = (rules: ForwardingRule[]): ForwardingRule[] => {
  const result = ForwardingRules.safeParse(rules)
  if (!result.success) throw ApiError.invalid(`${issuesOf(result.error, 'forwarding_rules')}.`)
  return result.data
}

export const without = (settings: BalancerSettings, gone: ForwardingRule[]): ForwardingRule[] => {
  for (const [index, rule] of gone.entries()) {
    if (settings.forwarding_rules.some((own) => sameRule(own, rule))) continue
    throw ApiError.invalid(`forwarding_rules[${index}] is not a rule of this load balancer.`)
  }
  const left = settings.forwarding_rules.filter((own) => !gone.some((rule) => sameRule(own, rule)))
  if (left.length > 0 || settings.type === 'GLOBAL') return left
  throw ApiError.invalid(
    'forwarding_rules: a load balancer needs at least one; the last cannot go.',
  )
}

/** Whatever a balancer names must be there. */
export const checkReferences = async (tx: Store, state: BalancerState): Promise<void> => {
  const { settings } = state
  const namesake = await tx.collection(balancerRecords).find({ name: state.name, deleting: false })
  if (namesake && namesake.id !== state.id) {
    throw ApiError.invalid(`name ${state.name} is taken by load balancer ${namesake.id}.`)
  }
  for (const id of settings.droplet_ids) {
    if (await tx.collection(dropletRecords).get(id)) continue
    throw ApiError.invalid(`droplet_ids: there is no instance ${id}.`)
  }
  for (const id of certificatesOf(state)) {
    const certificate = await tx.collection(certificateRecords).get(id)
    if (!certificate) throw ApiError.invalid(`certificate_id: there is no certificate ${id}.`)
    if (certificate.state === 'error') {
      throw ApiError.invalid(`certificate_id: certificate ${certificate.name} could not be issued.`)
    }
  }
  for (const id of settings.target_load_balancer_ids) {
    const target = await tx.collection(balancerRecords).get(id)
    if (!target || target.deleting) {
      throw ApiError.invalid(`target_load_balancer_ids: there is no load balancer ${id}.`)
    }
    if (target.settings.type === 'GLOBAL') {
      throw ApiError.invalid(
        `target_load_balancer_ids: ${target.name} is not a regional load balancer.`,
      )
    }
  }
}

/** Each balancer has an address of its own, so that their ports do not collide. */
export const freeAddress = async (tx: Store): Promise<string> => {
  const taken = new Set((await tx.collection(balancerRecords).list()).map(({ address }) => address))
  for (;;) {
    const address = `127.80.${randomInt(0, 256)}.${randomInt(1, 255)}`
    if (!taken.has(address)) return address
  }
}
