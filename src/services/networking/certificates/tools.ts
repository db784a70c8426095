import { pageOf, paging, text, texts } from '#mcp/args.ts'
import { call } from '#mcp/tool.ts'
import { certificates } from './contract.ts'

const Name = text('Unique name, such as web-2026')
const ID = text('Certificate id')

export const certificateTools = {
  'custom-certificate-create': call(certificates.create, {
    title: 'Create custom certificate',
    about: 'Upload a certificate with its private key and chain.',
    args: {
      Name,
      PrivateKey: text('PEM'),
      LeafCertificate: text('PEM'),
      CertificateChain: text('PEM, issuer of the leaf first'),
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
    about: 'Get a certificate issued and renewed for names in your domains.',
    args: {
      Name,
      DnsNames: texts('Such as ["example.com", "*.example.com"]'),
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
    about: 'List the certificates.',
    args: paging(20),
    request: (a) => ({ query: pageOf(a) }),
  }),
}
