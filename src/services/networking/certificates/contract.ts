import { z } from 'zod'
import { CertificateName } from '#core/host.ts'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'
import { absentWhenEmpty, Timestamp, Uuid } from '#core/schema.ts'

/** Keys and chains are never answered. */
export const Certificate = z.object({
  id: Uuid,
  name: z.string(),
  type: z.enum(['custom', 'lets_encrypt']),
  state: z.enum(['pending', 'verified', 'error']),
  dns_names: z.array(z.string()),
  not_after: Timestamp.optional(),
  sha1_fingerprint: z.string().optional(),
  created_at: Timestamp,
})
export type Certificate = z.output<typeof Certificate>

const Pem = absentWhenEmpty(z.string().max(65_536))

export const NewCertificate = z
  .object({
    name: z.string().min(1).max(255),
    type: absentWhenEmpty(z.enum(['custom', 'lets_encrypt'])),
    private_key: Pem,
    leaf_certificate: Pem,
    certificate_chain: Pem,
    dns_names: z.array(CertificateName).max(100).nullish(),
  })
  .superRefine((body, context) => {
    const say = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (typeOf(body) === 'lets_encrypt') {
      if (!body.dns_names?.length) say('dns_names', 'must have at least 1 item')
      return
    }
    for (const field of ['private_key', 'leaf_certificate'] as const) {
      if (!body[field]) say(field, 'is required for custom certificates')
    }
  })
export type NewCertificate = z.output<typeof NewCertificate>

/** Clients that give no type mean the one whose fields they gave. */
export const typeOf = (body: Pick<NewCertificate, 'type' | 'dns_names'>): Certificate['type'] =>
  body.type ?? (body.dns_names?.length ? 'lets_encrypt' : 'custom')

const certificate = resource('certificate')

export const certificates = {
  list: certificate.get('/v2/certificates', {
    query: Page.extend({ name: absentWhenEmpty(z.string()) }),
    returns: listOf('certificates', Certificate),
  }),
  create: certificate.post('/v2/certificates', {
    body: NewCertificate,
    returns: one('certificate', Certificate),
  }),
  get: certificate.get('/v2/certificates/:id', { returns: one('certificate', Certificate) }),
  delete: certificate.del('/v2/certificates/:id'),
}
