import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { listOf, one, Page } from '#core/page.ts'

const { get, post, put, del } = resource('ssh_key')

export const SshKey = z.object({
  id: z.number().int(),
  fingerprint: z.string(),
  public_key: z.string(),
  name: z.string(),
})
export type SshKey = z.infer<typeof SshKey>

const Name = z.string().trim().min(1).max(255)

/** `:id` is the number of the key or its fingerprint. */
export const keys = {
  list: get('/v2/account/keys', { query: Page, returns: listOf('ssh_keys', SshKey) }),
  create: post('/v2/account/keys', {
    body: z.object({ name: Name, public_key: z.string().min(1).max(20_000) }),
    returns: one('ssh_key', SshKey),
  }),
  get: get('/v2/account/keys/:id', { returns: one('ssh_key', SshKey) }),
  update: put('/v2/account/keys/:id', {
    body: z.object({ name: Name }),
    returns: one('ssh_key', SshKey),
  }),
  delete: del('/v2/account/keys/:id'),
}

export const sshKeys = collection<SshKey>('ssh_keys', {
  called: 'SSH key',
  key: 'id',
  unique: [['fingerprint']],
})
