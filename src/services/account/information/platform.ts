import { collection } from '#core/collection.ts'
import type { Service } from '#platform/service.ts'
import { account } from './contract.ts'

/** One Cove is one account; its identity is made once and kept. */
interface Identity {
  key: 'account'
  uuid: string
  team_uuid: string
}

const identities = collection<Identity>('account', { called: 'Account', key: 'key' })

export const informationService: Service = (on, { store, ids }) => {
  const kept = store.collection(identities)

  const made = () =>
    store.transaction(async (tx) => {
      const table = tx.collection(identities)
      const identity = { key: 'account' as const, uuid: ids.uuid(), team_uuid: ids.uuid() }
      return (await table.get('account')) ?? table.insert(identity)
    })

  on(account.get, async () => {
    const { uuid, team_uuid } = (await kept.get('account')) ?? (await made())
    return {
      account: {
        uuid,
        name: 'Cove owner',
        email: 'owner@cove.local',
        email_verified: true,
        status: 'active' as const,
        status_message: '',
        droplet_limit: 200,
        floating_ip_limit: 50,
        team: { uuid: team_uuid, name: 'Cove' },
      },
    }
  })
}
