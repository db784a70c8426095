import type { z } from 'zod'
import { ApiError } from '#core/error.ts'
import type { RequestOf } from '#core/operation.ts'
import type { GlobalSettings, LoadBalancer, loadBalancers } from './contract.ts'
import type { ForwardingRule } from './rule.ts'

export interface GivenRule {
  EntryProtocol: ForwardingRule['entry_protocol']
  EntryPort: number
  TargetProtocol: ForwardingRule['target_protocol']
  TargetPort: number
  TlsPassthrough?: boolean | undefined
}

interface Given {
  Name: string
  Region?: string | undefined
  InstanceIDs?: number[] | undefined
  Tag?: string | undefined
  ForwardingRules?: GivenRule[] | undefined
  Type?: LoadBalancer['type'] | undefined
  Network?: LoadBalancer['network'] | undefined
  SizeUnit?: number | undefined
  NetworkStack?: LoadBalancer['network_stack'] | undefined
  ProjectID?: string | undefined
  TargetLoadBalancerIDs?: string[] | undefined
  GLBSettings?: z.input<typeof GlobalSettings> | undefined
}

type Body = RequestOf<typeof loadBalancers.create>['body']

export const rulesOf = (rules: readonly GivenRule[]) =>
  rules.map((rule) => ({
    entry_protocol: rule.EntryProtocol,
    entry_port: rule.EntryPort,
    target_protocol: rule.TargetProtocol,
    target_port: rule.TargetPort,
    ...(rule.TlsPassthrough !== undefined && { tls_passthrough: rule.TlsPassthrough }),
  }))

export const creationOf = (given: Given): Body => {
  if (given.Type === 'GLOBAL') {
    if (!given.GLBSettings) throw ApiError.invalid('GLBSettings is required for Type GLOBAL.')
    if (given.Region) throw ApiError.invalid('Region must be left out for Type GLOBAL.')
  } else {
    if (!given.Region) throw ApiError.invalid(`Region is required for Type ${given.Type}.`)
    if (!given.ForwardingRules?.length) {
      throw ApiError.invalid(`ForwardingRules is required for Type ${given.Type}.`)
    }
  }
  return fieldsOf(given)
}

/** The API resets what a change leaves out, so the current settings go along. */
export const changeOf = (current: LoadBalancer, given: Given): Body => {
  const { id: _id, ip: _ip, ipv6: _ipv6, status: _status, created_at: _created, ...kept } = current
  const { region, size, droplet_ids, tag, ...settings } = kept
  const members = tag ? { tag } : { droplet_ids }
  const body: Body = {
    ...settings,
    ...(region && { region: region.slug }),
    ...(!settings.size_unit && size && { size: size as 'lb-small' }),
    ...(given.InstanceIDs || given.Tag ? {} : members),
    ...fieldsOf(given),
    ...(given.ForwardingRules && {
      forwarding_rules: withCertificates(given.ForwardingRules, current.forwarding_rules),
    }),
  }
  if (body.type === 'GLOBAL' && !body.glb_settings) {
    throw ApiError.invalid('GLBSettings is required for Type GLOBAL.')
  }
  return body
}

const fieldsOf = (given: Given): Body => {
  if (given.InstanceIDs?.length && given.Tag) {
    throw ApiError.invalid('InstanceIDs and Tag exclude each other: give one of them.')
  }
  return {
    name: given.Name,
    ...(given.Region && { region: given.Region }),
    ...(given.InstanceIDs && { droplet_ids: given.InstanceIDs }),
    ...(given.Tag && { tag: given.Tag }),
    ...(given.ForwardingRules && { forwarding_rules: rulesOf(given.ForwardingRules) }),
    ...(given.Type && { type: given.Type }),
    ...(given.Network && { network: given.Network }),
    ...(given.SizeUnit && { size_unit: given.SizeUnit }),
    ...(given.NetworkStack && { network_stack: given.NetworkStack }),
    ...(given.ProjectID && { project_id: given.ProjectID }),
    ...(given.TargetLoadBalancerIDs && { target_load_balancer_ids: given.TargetLoadBalancerIDs }),
    ...(given.GLBSettings && { glb_settings: given.GLBSettings }),
  }
}

/** The tool cannot name a certificate: a rule for the same port keeps the one it has. */
const withCertificates = (given: GivenRule[], current: readonly ForwardingRule[]) =>
  rulesOf(given).map((rule) => {
    const same = current.find(
      (other) =>
        other.entry_port === rule.entry_port && other.entry_protocol === rule.entry_protocol,
    )
    const keep = same?.certificate_id && !rule.tls_passthrough
    return keep ? { ...rule, certificate_id: same.certificate_id } : rule
  })
