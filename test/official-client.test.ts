import {
  createDigitalOceanClient,
  DigitalOceanApiKeyAuthenticationProvider,
} from '@digitalocean/dots'
import { FetchRequestAdapter } from '@microsoft/kiota-http-fetchlibrary'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startCove } from './process.ts'

let running: Running
beforeAll(async () => {
  running = await startCove()
})
afterAll(() => running.stop())

test('the official client of the public API drives this one', async () => {
  const adapter = new FetchRequestAdapter(
    new DigitalOceanApiKeyAuthenticationProvider(running.token),
  )
  adapter.baseUrl = running.url
  const { account, actions, regions, tags } = createDigitalOceanClient(adapter).v2

  expect(await account.get()).toMatchObject({ account: { status: 'active', emailVerified: true } })

  const publicKey =
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOk840pGgojCtTWSNUK3itOWcsciho5BsEfiDWCurov7 me'
  const made = await account.keys.post({ name: 'laptop', publicKey })
  expect(made).toMatchObject({
    sshKey: { id: expect.any(Number), fingerprint: expect.any(String) },
  })
  const id = Number((made.sshKey as { id: number }).id)
  expect(await account.keys.get()).toMatchObject({ sshKeys: [{ id, name: 'laptop' }] })
  expect(await regions.get()).toMatchObject({
    regions: expect.arrayContaining([
      expect.objectContaining({ slug: 'nyc3', sizes: expect.arrayContaining(['s-1vcpu-1gb']) }),
    ]),
  })
  expect(await actions.get()).toMatchObject({
    actions: [{ type: 'create', resourceType: 'ssh_key', resourceId: id, status: 'completed' }],
  })

  await tags.post({ name: 'web' })
  expect(await tags.byTag_id('web').get()).toMatchObject({
    tag: { name: 'web', resources: { droplets: { count: 0 } } },
  })

  await account.keys.bySsh_key_identifier(id).delete()
  await expect(account.keys.bySsh_key_identifier(id).get()).rejects.toMatchObject({
    id: 'not_found',
    messageEscaped: `SSH key ${id} was not found.`,
  })
})
