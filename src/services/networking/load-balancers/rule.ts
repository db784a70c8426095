import { z } from 'zod'
import { absentWhenEmpty } from '#core/schema.ts'

export const entryProtocols = ['http', 'https', 'http2', 'http3', 'tcp', 'udp'] as const
export const targetProtocols = ['http', 'https', 'http2', 'tcp', 'udp'] as const

const Port = z.number().int().min(1).max(65_535)

export const ForwardingRule = z.object({
  entry_protocol: z.enum(entryProtocols),
  entry_port: Port,
  target_protocol: z.enum(targetProtocols),
  target_port: Port,
  certificate_id: absentWhenEmpty(z.string()).default(''),
  tls_passthrough: z
    .boolean()
    .nullish()
    .transform((given) => given ?? false),
})
export type ForwardingRule = z.output<typeof ForwardingRule>

export const encrypted = new Set<string>(['https', 'http2', 'http3'])

/** Protocols on both sides of a rule must be of one family. */
const family = (protocol: string): string =>
  protocol === 'tcp' || protocol === 'udp' ? protocol : 'http'

/** What is wrong with one rule by itself. */
const faultOf = (rule: ForwardingRule): [field: string, message: string] | undefined => {
  if (family(rule.entry_protocol) !== family(rule.target_protocol)) {
    return rule.tls_passthrough
      ? ['target_protocol', 'must be https or http2 with tls_passthrough']
      : [
          'target_protocol',
          `cannot be ${rule.target_protocol} for entry_protocol ${rule.entry_protocol}`,
        ]
  }
  if (rule.tls_passthrough) {
    if (rule.entry_protocol !== 'https' && rule.entry_protocol !== 'http2') {
      return ['tls_passthrough', 'needs entry_protocol https or http2']
    }
    if (rule.target_protocol === 'http') {
      return ['target_protocol', 'must be https or http2 with tls_passthrough']
    }
    if (rule.certificate_id) return ['certificate_id', 'must be left out with tls_passthrough']
    return undefined
  }
  if (encrypted.has(rule.entry_protocol) && !rule.certificate_id) {
    return [
      'certificate_id',
      `or tls_passthrough is required for entry_protocol ${rule.entry_protocol}`,
    ]
  }
  if (!encrypted.has(rule.entry_protocol) && rule.certificate_id) {
    return ['certificate_id', `has no use for entry_protocol ${rule.entry_protocol}`]
  }
  return undefined
}

/** Two rules may share a port only when one of them is udp. */
const listenerOf = (rule: ForwardingRule): string =>
  `${rule.entry_protocol === 'udp' ? 'udp' : 'tcp'} port ${rule.entry_port}`

export const ForwardingRules = z
  .array(ForwardingRule)
  .max(100)
  .superRefine((rules, context) => {
    const taken = new Map<string, number>()
    for (const [index, rule] of rules.entries()) {
      const fault = faultOf(rule)
      if (fault) context.addIssue({ code: 'custom', path: [index, fault[0]], message: fault[1] })
      const listener = listenerOf(rule)
      const other = taken.get(listener)
      taken.set(listener, other ?? index)
      // An http3 rule beside an encrypted one offers a newer protocol on the same port.
      const together = other !== undefined && [rule, rules[other]].some(isHttp3)
      if (other !== undefined && !together) {
        context.addIssue({
          code: 'custom',
          path: [index, 'entry_port'],
          message: `repeats ${listener} of forwarding_rules[${other}]`,
        })
      }
    }
  })

const isHttp3 = (rule: ForwardingRule | undefined): boolean => rule?.entry_protocol === 'http3'

/** Rules are removed by what they say, since they have no ids. */
export const sameRule = (a: ForwardingRule, b: ForwardingRule): boolean =>
  a.entry_protocol === b.entry_protocol &&
  a.entry_port === b.entry_port &&
  a.target_protocol === b.target_protocol &&
  a.target_port === b.target_port
