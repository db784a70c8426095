import { z } from 'zod'
import { ApiError } from '#core/error.ts'
import { choice, ints, list, pageOf, paging, text, texts } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { firewallProtocols, firewalls } from './contract.ts'

const ID = text('Firewall id')
const InstanceIDs = ints('Instance numbers')
const Tags = texts('Such as ["web"]')
const ports = '80, 8000-8080 or all'
const peer = 'IP or CIDR, such as 0.0.0.0/0'

const rule = { Protocol: z.enum(firewallProtocols), PortRange: text('Such as 80 or 8000-8080') }
const addresses = texts('IPs or CIDRs')
const ruleLists = {
  InboundRules: list('Traffic let in', z.object({ ...rule, Sources: addresses })).optional(),
  OutboundRules: list('Traffic let out', z.object({ ...rule, Destinations: addresses })).optional(),
}

interface Rule {
  Protocol: (typeof firewallProtocols)[number]
  PortRange: string
}

const flat = (given: Rule) => ({ protocol: given.Protocol, ports: given.PortRange })

interface RuleLists {
  InboundRules?: (Rule & { Sources: string[] })[] | undefined
  OutboundRules?: (Rule & { Destinations: string[] })[] | undefined
}

const rulesOf = ({ InboundRules: inbound, OutboundRules: outbound }: RuleLists) => {
  if (!inbound?.length && !outbound?.length) {
    throw ApiError.invalid('At least one of InboundRules and OutboundRules must hold a rule.')
  }
  return {
    ...(inbound && {
      inbound_rules: inbound.map((one) => ({ ...flat(one), sources: { addresses: one.Sources } })),
    }),
    ...(outbound && {
      outbound_rules: outbound.map((one) => ({
        ...flat(one),
        destinations: { addresses: one.Destinations },
      })),
    }),
  }
}

export const firewallTools = {
  'firewall-create': call(firewalls.create, {
    title: 'Create firewall',
    about: 'Create a firewall with one inbound and one outbound rule.',
    args: {
      Name: text('Name, such as web'),
      InboundProtocol: choice('Protocol let in', firewallProtocols),
      InboundPortRange: text(ports),
      InboundSource: text(peer),
      OutboundProtocol: choice('Protocol let out', firewallProtocols),
      OutboundPortRange: text(ports),
      OutboundDestination: text(peer),
      InstanceIDs: InstanceIDs.optional(),
      Tags: Tags.optional(),
    },
    request: (a) => ({
      body: {
        name: a.Name,
        inbound_rules: [
          {
            protocol: a.InboundProtocol,
            ports: a.InboundPortRange,
            sources: { addresses: [a.InboundSource] },
          },
        ],
        outbound_rules: [
          {
            protocol: a.OutboundProtocol,
            ports: a.OutboundPortRange,
            destinations: { addresses: [a.OutboundDestination] },
          },
        ],
        ...(a.InstanceIDs && { droplet_ids: a.InstanceIDs }),
        ...(a.Tags && { tags: a.Tags }),
      },
    }),
  }),
  'firewall-delete': call(firewalls.delete, {
    title: 'Delete firewall',
    about: 'Delete a firewall for good.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'firewall-get': call(firewalls.get, {
    title: 'Get firewall',
    about: 'Get a firewall with its rules and pending changes.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'firewall-list': call(firewalls.list, {
    title: 'List firewalls',
    about: 'List the firewalls.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
  'firewall-add-tags': call(firewalls.addTags, {
    title: 'Add firewall tags',
    about: 'Apply a firewall to instances with these tags.',
    effect: 'change',
    args: { ID, Tags },
    request: (a) => ({ path: { id: a.ID }, body: { tags: a.Tags } }),
  }),
  'firewall-remove-tags': call(firewalls.removeTags, {
    title: 'Remove firewall tags',
    about: 'Stop applying a firewall by these tags.',
    effect: 'change',
    args: { ID, Tags },
    request: (a) => ({ path: { id: a.ID }, body: { tags: a.Tags } }),
  }),
  'firewall-add-droplets': call(firewalls.addDroplets, {
    title: 'Add firewall instances',
    about: 'Apply a firewall to instances.',
    effect: 'change',
    args: { ID, InstanceIDs },
    request: (a) => ({ path: { id: a.ID }, body: { droplet_ids: a.InstanceIDs } }),
  }),
  'firewall-remove-droplets': call(firewalls.removeDroplets, {
    title: 'Remove firewall instances',
    about: 'Stop applying a firewall to instances.',
    effect: 'change',
    args: { ID, InstanceIDs },
    request: (a) => ({ path: { id: a.ID }, body: { droplet_ids: a.InstanceIDs } }),
  }),
  'firewall-add-rules': call(firewalls.addRules, {
    title: 'Add firewall rules',
    about: 'Add rules to a firewall.',
    effect: 'change',
    args: { ID, ...ruleLists },
    request: (a) => ({ path: { id: a.ID }, body: rulesOf(a) }),
  }),
  'firewall-remove-rules': call(firewalls.removeRules, {
    title: 'Remove firewall rules',
    about: 'Remove rules from a firewall.',
    effect: 'change',
    args: { ID, ...ruleLists },
    request: (a) => ({ path: { id: a.ID }, body: rulesOf(a) }),
  }),
}
