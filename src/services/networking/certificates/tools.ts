import { pageOf, paging, text, texts } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { certificates } from './contract.ts'

const Name = text('Name of the certificate, unique in the account, for example web-2026')
const ID = text('Certificate id, as certificate-list shows it')

export const certificateTools = {
  'custom-certificate-create': call(certificates.create, {
    title: 'Create custom certificate',
    about: 'Upload a certificate with its private key and chain.',
    args: {
      Name,
      PrivateKey: text('Private key in PEM form'),
      LeafCertificate: text('Certificate in PEM form'),
      CertificateChain: text('Intermediate certificates in PEM form, issuer of the leaf first'),
    },
    request: (a) => ({
      body: {
        name: a.Name,
        type: 'custom',
        private_key: a.PrivateKey,
        leaf_certificate: a.LeafCertificate,
        certificate_chain: a.CertificateChain,
      },
    }),
  }),
  'acme-certificate-create': call(certificates.create, {
    title: 'Create ACME certificate',
    about: 'Have a certificate issued and renewed for names under domains of the account.',
    args: {
      Name,
      DnsNames: texts('Names, for example ["example.com", "*.example.com"]'),
    },
    request: (a) => ({ body: { name: a.Name, type: 'lets_encrypt', dns_names: a.DnsNames } }),
  }),
  'certificate-delete': call(certificates.delete, {
    title: 'Delete certificate',
    about: 'Delete a certificate that no load balancer uses.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'certificate-get': call(certificates.get, {
    title: 'Get certificate',
    about: 'Get a certificate; keys are never shown.',
    args: { ID },
    request: (a) => ({ path: { id: a.ID } }),
  }),
  'certificate-list': call(certificates.list, {
    title: 'List certificates',
    about: 'List the certificates of the account.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
