import { choice, int, pageOf, paging, text } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { domainRecords, domains, recordTypes } from './contract.ts'
import { fieldsOf } from './data.ts'

const Name = text('Domain, such as example.com')
const Domain = text('Such as example.com')
const RecordID = int('Record number', 1)

const record = {
  Domain,
  Type: choice('Record type', recordTypes),
  Name: text('Host, such as www, or @ for the domain itself'),
  Data: text(
    'Value, such as 192.0.2.10; MX "10 mail.example.com", SRV "priority weight port host", CAA "flags tag value"',
  ),
}

export const domainTools = {
  'domain-create': call(domains.create, {
    title: 'Create domain',
    about: 'Create a domain whose apex has this address.',
    args: { Name, IPAddress: text('Such as 192.0.2.10') },
    request: (a) => ({ body: { name: a.Name, ip_address: a.IPAddress } }),
  }),
  'domain-delete': call(domains.delete, {
    title: 'Delete domain',
    about: 'Delete a domain and all its records.',
    args: { Name },
    request: (a) => ({ path: { name: a.Name } }),
  }),
  'domain-get': call(domains.get, {
    title: 'Get domain',
    about: 'Get a domain with its zone file.',
    args: { Name },
    request: (a) => ({ path: { name: a.Name } }),
  }),
  'domain-list': call(domains.list, {
    title: 'List domains',
    about: 'List the domains.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
  'domain-record-create': call(domainRecords.create, {
    title: 'Create domain record',
    about: 'Add a DNS record to a domain.',
    args: record,
    request: (a) => ({ path: { domain: a.Domain }, body: { name: a.Name, ...fieldsOf(a) } }),
  }),
  'domain-record-delete': call(domainRecords.delete, {
    title: 'Delete domain record',
    about: 'Delete a DNS record.',
    args: { Domain, RecordID },
    request: (a) => ({ path: { domain: a.Domain, id: a.RecordID } }),
  }),
  'domain-record-edit': call(domainRecords.update, {
    title: 'Edit domain record',
    about: 'Replace type, name and data of a DNS record.',
    args: { Domain, RecordID, Type: record.Type, Name: record.Name, Data: record.Data },
    request: (a) => ({
      path: { domain: a.Domain, id: a.RecordID },
      body: { name: a.Name, ...fieldsOf(a) },
    }),
  }),
  'domain-record-get': call(domainRecords.get, {
    title: 'Get domain record',
    about: 'Get a DNS record by its number.',
    args: { Domain, RecordID },
    request: (a) => ({ path: { domain: a.Domain, id: a.RecordID } }),
  }),
  'domain-record-list': call(domainRecords.list, {
    title: 'List domain records',
    about: 'List the DNS records of a domain.',
    args: { Domain, ...paging(20) },
    request: (a) => ({ path: { domain: a.Domain }, query: pageOf(a) }),
  }),
}
