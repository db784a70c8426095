import { X509Certificate } from 'node:crypto'
import { ApiError, messageOf } from '#core/error.ts'
import type { Dns01 } from '#engines/certificates/acme.ts'
import { checkCertificate, factsOf } from '#engines/certificates/check.ts'
import type { Issuer } from '#engines/certificates/issuer.ts'
import type { Vault } from '#engines/certificates/vault.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOf } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import type { Publisher } from '../domains/publisher.ts'
import { zones } from '../domains/records.ts'
import { relativeName } from '../domains/zone-file.ts'
import { balancerRecords, certificatesOf, stir } from '../load-balancers/records.ts'
import { type Certificate, certificates, type NewCertificate, typeOf } from './contract.ts'
import { type CertificateState, certificateRecords, keyLabel } from './records.ts'

export interface CertificateDrivers {
  vault: () => Promise<Vault>
  issuer: () => Promise<Issuer>
  publisher: Publisher
}

const day = 86_400_000
/** A certificate is issued anew when less of its time is left. */
const renewal = 30 * day
/** Attempts to issue before a certificate is called failed. */
const attemptsToIssue = 3

export const certificateService =
  ({ vault, issuer, publisher }: CertificateDrivers): Service =>
  (on, { store, clock, ids, actions, reconcile }) => {
    const table = store.collection(certificateRecords)

    on(certificates.list, async ({ query }) => {
      const page = await pageOf('certificates', table, query, {
        where: query.name ? { name: query.name } : {},
      })
      return { ...page, certificates: page.certificates.map(asCertificate) }
    })

    on(certificates.get, async ({ path, note }) => {
      const state = await table.require(path.id)
      if (state.problem) note(`The last attempt to issue it failed: ${state.problem}`)
      return { certificate: asCertificate(state) }
    })

    on(certificates.create, async ({ body, note }) => {
      const id = ids.uuid()
      const base = { id, name: body.name, created_at: timestamp(clock) }
      const lets = typeOf(body) === 'lets_encrypt'
      const state: CertificateState = lets
        ? {
            ...base,
            type: 'lets_encrypt',
            state: 'pending',
            dns_names: await ownNames(store, body),
          }
        : { ...base, ...custom(body, await vault(), id, clock.now()) }
      await store.transaction(async (tx) => {
        if (await tx.collection(certificateRecords).find({ name: body.name })) {
          throw ApiError.invalid(`name ${body.name} is taken by another certificate.`)
        }
        await tx.collection(certificateRecords).insert(state)
        await actions.record({ type: 'create', resource_type: 'certificate', resource_id: id }, tx)
      })
      if (lets) note(`It is issued by ${(await issuer()).called}.`)
      return { certificate: asCertificate(state) }
    })

    on(certificates.delete, async ({ path }) => {
      await table.require(path.id)
      await store.transaction(async (tx) => {
        const users = (await tx.collection(balancerRecords).list({ where: { deleting: false } }))
          .filter((balancer) => certificatesOf(balancer).includes(path.id))
          .map(({ name, id }) => `${name} (${id})`)
        if (users.length > 0) {
          throw ApiError.conflict(`The certificate is in use by load balancer ${users.join(', ')}.`)
        }
        await tx.collection(certificateRecords).remove(path.id)
        const what = { type: 'destroy', resource_type: 'certificate', resource_id: path.id }
        await actions.record(what, tx)
      })
    })

    reconcile(certificateRecords, async (state, { attempts }) => {
      if (state.type === 'custom') return {}
      if (state.to_distribute) {
        await stir(store, (balancer) => certificatesOf(balancer).includes(state.id))
        return { change: ({ to_distribute: _done, ...rest }) => rest, again: 0 }
      }
      const left = state.not_after ? Date.parse(state.not_after) - clock.now() : 0
      if (state.state === 'error' || left > renewal) {
        return left > renewal ? { again: left - renewal } : {}
      }
      try {
        const { key, chain } = await (await issuer()).issue(
          state.dns_names,
          proofBy(store, publisher),
        )
        const sealed = (await vault()).seal(key, keyLabel(state.id))
        return { change: (current) => issued(current, chain, sealed), again: 0 }
      } catch (error) {
        // What serves keeps serving; a first certificate that cannot be had is an answer too.
        if (state.state === 'verified' || attempts + 1 < attemptsToIssue) throw error
        const problem = messageOf(error)
        return { change: (current) => ({ ...current, state: 'error' as const, problem }) }
      }
    })
  }

const issued = (state: CertificateState, chain: string, sealed_key: string): CertificateState => {
  const { problem: _solved, ...rest } = state
  const facts = factsOf(new X509Certificate(chain))
  return {
    ...rest,
    state: 'verified',
    not_after: facts.notAfter.toISOString(),
    sha1_fingerprint: facts.fingerprint,
    chain,
    sealed_key,
    to_distribute: true,
  }
}

const custom = (body: NewCertificate, vault: Vault, id: string, now: number) => {
  const { private_key = '', leaf_certificate = '', certificate_chain } = body
  const checked = checkCertificate(
    { private_key, leaf_certificate, certificate_chain },
    new Date(now),
  )
  return {
    type: 'custom' as const,
    state: 'verified' as const,
    dns_names: checked.names,
    not_after: checked.notAfter.toISOString(),
    sha1_fingerprint: checked.fingerprint,
    chain: checked.chain,
    sealed_key: vault.seal(checked.key, keyLabel(id)),
  }
}

/** The names, each once, all under domains of the account. */
const ownNames = async (store: Store, body: NewCertificate): Promise<string[]> => {
  const names = [...new Set(body.dns_names ?? [])]
  for (const name of names) {
    if (await domainOf(store, name.replace(/^\*\./, ''))) continue
    throw ApiError.invalid(
      `dns_names: ${name} is not under a domain of this account; create the domain first.`,
    )
  }
  return names
}

/** The domain of the account that a name is in: the longest that ends it. */
const domainOf = async (store: Store, name: string): Promise<string | undefined> => {
  const labels = name.split('.')
  const candidates = labels.map((_, index) => labels.slice(index).join('.'))
  const found = await store.collection(zones).list({ where: { name: candidates } })
  return candidates.find((candidate) => found.some((zone) => zone.name === candidate))
}

/** Names are proven to an ACME server by our own DNS. */
const proofBy = (store: Store, publisher: Publisher): Dns01 => {
  const publish = async (name: string, values: string[]): Promise<void> => {
    const domain = await domainOf(store, name)
    const relative = domain === undefined ? undefined : relativeName(`${name}.`, domain)
    if (domain === undefined || relative === undefined) {
      throw new Error(`${name} is not under a domain of this account any more.`)
    }
    await publisher.proof(domain, relative, values)
  }
  return { publish, withdraw: (name) => publish(name, []) }
}

const asCertificate = (state: CertificateState): Certificate => {
  const { chain: _chain, sealed_key: _key, problem: _problem, to_distribute: _to, ...shown } = state
  return shown
}
