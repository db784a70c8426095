import { overlaps, parseBlock } from '#core/cidr.ts'
import { ApiError } from '#core/error.ts'
import type { Fabric } from '#engines/fabric/fabric.ts'
import { pageOf } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import { sshKeys } from '../../account/keys/contract.ts'
import { noteStanding } from '../plan.ts'
import { reservedRecords } from '../reserved-ips/records.ts'
import { byoipPrefixes } from './contract.ts'
import { type PrefixRecord, prefixRecords } from './records.ts'
import { challengeOf, signatureFault } from './signature.ts'

/** Nobody can bring these: they are private, this cloud's own, or not for hosts. */
const unroutable = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
]

const unannounced =
  'This machine announces no prefix to the internet; the addresses work inside the fabric.'

export const byoipService =
  (fabric: Fabric): Service =>
  (on, kernel) => {
    const { store, ids, actions } = kernel
    const table = store.collection(prefixRecords)
    const say = (note: (text: string) => void) => {
      noteStanding(fabric, note)
      note(unannounced)
    }

    on(byoipPrefixes.list, async ({ query }) => {
      const page = await pageOf('byoip_prefixes', table, query)
      return { ...page, byoip_prefixes: page.byoip_prefixes.map(asPrefix) }
    })

    on(byoipPrefixes.get, async ({ path, note }) => {
      say(note)
      return { byoip_prefix: asPrefix(await table.require(path.uuid)) }
    })

    on(byoipPrefixes.create, async ({ body, note }) => {
      const record = await store.transaction(async (tx) => {
        await checkFree(tx, body.prefix)
        const uuid = ids.uuid()
        await actions.record(
          { type: 'create', resource_type: 'byoip_prefix', resource_id: uuid },
          tx,
        )
        return tx.collection(prefixRecords).insert({
          uuid,
          name: body.prefix,
          prefix: body.prefix,
          status: 'in_progress',
          region: body.region,
          validations: [],
          failure_reason: '',
          locked: false,
          advertised: false,
          project_id: '',
          signature: body.signature,
        })
      })
      say(note)
      return { uuid: record.uuid, region: record.region, status: record.status }
    })

    on(byoipPrefixes.advertise, async ({ path, note }) => {
      say(note)
      return { byoip_prefix: asPrefix(await table.require(path.uuid)) }
    })

    on(byoipPrefixes.delete, async ({ path }) => {
      await store.transaction(async (tx) => {
        const { uuid, prefix } = await tx.collection(prefixRecords).require(path.uuid)
        const used = await tx.collection(reservedRecords).count({ byoip: uuid })
        if (used > 0) {
          throw ApiError.invalid(`${prefix} has ${used} addresses in use; release them first.`)
        }
        await tx.collection(prefixRecords).remove(uuid)
        const what = { type: 'destroy', resource_type: 'byoip_prefix', resource_id: uuid }
        await actions.record(what, tx)
      })
    })

    on(byoipPrefixes.resources, async ({ path, query }) => {
      const { uuid } = await table.require(path.uuid)
      const used = store.collection(reservedRecords)
      const page = await pageOf('ips', used, query, { where: { byoip: uuid } })
      const ips = page.ips.map((each) => ({
        id: each.number,
        byoip: uuid,
        region: each.region,
        resource:
          each.droplet_id === null ? `do:reservedip:${each.ip}` : `do:droplet:${each.droplet_id}`,
        assigned_at: each.assigned_at ?? each.reserved_at,
      }))
      return { ...page, ips }
    })

    kernel.reconcile(prefixRecords, async (record) => {
      if (record.status !== 'in_progress') return {}
      const keys = (await store.collection(sshKeys).list()).map(({ public_key }) => public_key)
      const text = challengeOf(record.prefix, record.region)
      const fault = signatureFault(record.signature, text, keys)
      return {
        change: (current) => ({
          ...current,
          status: fault ? 'failed' : 'active',
          failure_reason: fault ? `${fault}.` : '',
          validations: [
            { name: 'prefix', status: 'passed', note: 'It is free and may be brought.' },
            {
              name: 'signature',
              status: fault ? 'failed' : 'passed',
              note: fault
                ? `${fault}. The text to sign is: ${text.trim()}`
                : 'By a key of the account.',
            },
            { name: 'announcement', status: 'not done', note: unannounced },
          ],
        }),
      }
    })
  }

const checkFree = async (tx: Store, prefix: string): Promise<void> => {
  const wanted = parseBlock(prefix)
  const reserved = unroutable.find((each) => overlaps(parseBlock(each), wanted))
  if (reserved)
    throw ApiError.invalid(`prefix ${prefix} is part of ${reserved}, which nobody owns.`)
  const others = await tx.collection(prefixRecords).list()
  const taken = others.find((each) => overlaps(parseBlock(each.prefix), wanted))
  if (taken)
    throw ApiError.invalid(`prefix ${prefix} overlaps with ${taken.prefix}, brought already.`)
}

const asPrefix = ({ signature: _signature, ...prefix }: PrefixRecord) => prefix
