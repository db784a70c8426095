import {
  type Arguments,
  all,
  flag,
  like,
  listOf,
  must,
  number,
  numbers,
  object,
  oneOf,
  or,
  paging,
  text,
  texts,
} from './words.ts'

const ID = must(text)
const record = {
  Domain: must(text),
  Type: must(like('A', 'CNAME', 'TXT')),
  Name: must(text),
  Data: must(text),
}
const ofRecord = { Domain: must(text), RecordID: must(number) }
const protocol = oneOf('tcp', 'udp', 'icmp')
const firewallRules = {
  ID,
  InboundRules: listOf({ Protocol: protocol, PortRange: text, Sources: texts }),
  OutboundRules: listOf({ Protocol: protocol, PortRange: text, Destinations: texts }),
}
const ForwardingRules = listOf({
  EntryProtocol: must(oneOf('http', 'https', 'http2', 'http3', 'tcp', 'udp')),
  EntryPort: must(number),
  TargetProtocol: must(oneOf('http', 'https', 'http2', 'tcp', 'udp')),
  TargetPort: must(number),
  TlsPassthrough: flag,
})
const balancerType = oneOf('REGIONAL', 'REGIONAL_NETWORK', 'GLOBAL')
const balancerNetwork = oneOf('EXTERNAL', 'INTERNAL')
const balancer = {
  Name: must(text),
  Region: text,
  ForwardingRules,
  InstanceIDs: texts,
  Tag: text,
  SizeUnit: number,
  NetworkStack: oneOf('IPV4', 'DUALSTACK'),
  ProjectID: text,
  TargetLoadBalancerIDs: texts,
  GLBSettings: object,
}
const LoadBalancerID = must(text)
const family = must(oneOf('ipv4', 'ipv6'))
const UUID = must(text)

export const networking: Record<string, Arguments> = {
  'domain-create': all(must(text), 'Name', 'IPAddress'),
  'domain-delete': { Name: must(text) },
  'domain-get': { Name: must(text) },
  'domain-list': paging(20),
  'domain-record-create': record,
  'domain-record-delete': ofRecord,
  'domain-record-edit': { ...record, ...ofRecord },
  'domain-record-get': ofRecord,
  'domain-record-list': { Domain: must(text), ...paging(20) },
  'custom-certificate-create': all(
    must(text),
    'Name',
    'PrivateKey',
    'LeafCertificate',
    'CertificateChain',
  ),
  'acme-certificate-create': { Name: must(text), DnsNames: must(texts) },
  'certificate-delete': { ID },
  'certificate-get': { ID },
  'certificate-list': paging(20),
  'firewall-create': {
    Name: must(text),
    InboundProtocol: must(protocol),
    OutboundProtocol: must(protocol),
    ...all(
      must(text),
      'InboundPortRange',
      'InboundSource',
      'OutboundPortRange',
      'OutboundDestination',
    ),
    InstanceIDs: numbers,
    Tags: texts,
  },
  'firewall-delete': { ID },
  'firewall-get': { ID },
  'firewall-list': paging(20),
  'firewall-add-tags': { ID, Tags: must(texts) },
  'firewall-remove-tags': { ID, Tags: must(texts) },
  'firewall-add-droplets': { ID, InstanceIDs: must(numbers) },
  'firewall-remove-droplets': { ID, InstanceIDs: must(numbers) },
  'firewall-add-rules': firewallRules,
  'firewall-remove-rules': firewallRules,
  'load-balancer-create': {
    ...balancer,
    Type: or(balancerType, 'REGIONAL'),
    Network: or(balancerNetwork, 'EXTERNAL'),
  },
  // A default here would turn a balancer back that was created otherwise.
  'load-balancer-update': {
    LoadBalancerID,
    ...balancer,
    Type: balancerType,
    Network: balancerNetwork,
  },
  'load-balancer-delete': { LoadBalancerID },
  'load-balancer-delete-cache': { LoadBalancerID },
  'load-balancer-get': { LoadBalancerID },
  'load-balancer-list': paging(20),
  'load-balancer-add-droplets': { LoadBalancerID, InstanceIDs: must(numbers) },
  'load-balancer-remove-droplets': { LoadBalancerID, InstanceIDs: must(numbers) },
  'load-balancer-add-forwarding-rules': { LoadBalancerID, ForwardingRules: must(ForwardingRules) },
  'load-balancer-remove-forwarding-rules': {
    LoadBalancerID,
    ForwardingRules: must(ForwardingRules),
  },
  'reserved-ip-reserve': { Region: must(text), Type: family },
  'reserved-ip-release': { IP: must(text), Type: family },
  'reserved-ip-assign': { IP: must(text), InstanceID: must(number), Type: family },
  'reserved-ip-unassign': { IP: must(text), Type: family },
  'reserved-ip-list': { Type: family, ...paging(20) },
  'reserved-ip-get': { IP: must(text) },
  'vpc-peering-create': all(must(text), 'Name', 'Vpc1', 'Vpc2'),
  'vpc-peering-delete': { ID },
  'vpc-peering-get': { ID },
  'vpc-peering-list': paging(20),
  'byoip-prefix-create': all(must(text), 'Prefix', 'Signature', 'Region'),
  'byoip-prefix-delete': { UUID },
  'byoip-prefix-get': { UUID },
  'byoip-prefix-list': paging(20),
  'byoip-prefix-resources-get': { UUID, ...paging(20) },
  'vpc-create': { ...all(must(text), 'Name', 'Region'), Subnet: text, Description: text },
  'vpc-list-members': { ID },
  'vpc-delete': { ID },
  'vpc-get': { ID },
  'vpc-list': paging(20),
}
