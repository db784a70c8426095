import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import { keys } from './contract.ts'

let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(() => cove.close())

/** A key as people make them. */
const newKey = (...options: string[]) => {
  const path = join(mkdtempSync(join(tmpdir(), 'cove-key-')), 'id')
  execFileSync('ssh-keygen', ['-q', '-N', '', '-C', 'me@laptop', '-f', path, ...options])
  const [, fingerprint] = execFileSync('ssh-keygen', ['-E', 'md5', '-lf', path], {
    encoding: 'utf8',
  }).split(' ')
  return {
    text: readFileSync(`${path}.pub`, 'utf8'),
    secret: readFileSync(path, 'utf8'),
    fingerprint: fingerprint?.replace('MD5:', ''),
  }
}

test('a key is added, found by number and fingerprint, and deleted', async () => {
  const key = newKey('-t', 'ed25519')
  const { ssh_key } = (await cove.tool('key-create', { Name: 'laptop', PublicKey: key.text })) as {
    ssh_key: { id: number; fingerprint: string }
  }
  expect(ssh_key.fingerprint).toBe(key.fingerprint)

  const byFingerprint = await cove.api(keys.get, { path: { id: ssh_key.fingerprint } })
  expect(byFingerprint.ssh_key).toMatchObject({ id: ssh_key.id, name: 'laptop' })
  expect(await cove.tool('key-list')).toMatchObject({ ssh_keys: [ssh_key], meta: { total: 1 } })

  expect(await cove.tool('key-delete', { ID: ssh_key.id })).toEqual({
    status: 'deleted',
    id: ssh_key.id,
  })
  expect(await cove.refusal('key-get', { ID: ssh_key.id })).toContain('was not found')
})

test.each([
  ['rsa', ['-t', 'rsa', '-b', '2048']],
  ['ecdsa 256', ['-t', 'ecdsa', '-b', '256']],
  ['ecdsa 384', ['-t', 'ecdsa', '-b', '384']],
  ['ecdsa 521', ['-t', 'ecdsa', '-b', '521']],
])('a key of type %s is fingerprinted as ssh-keygen does', async (_name, options) => {
  const key = newKey(...options)
  const { ssh_key } = await cove.api(keys.create, { body: { name: 'k', public_key: key.text } })
  expect(ssh_key.fingerprint).toBe(key.fingerprint)
})

test('a hardware key is accepted', async () => {
  const text = (value: string | Buffer) => {
    const bytes = Buffer.from(value)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return Buffer.concat([length, bytes])
  }
  const type = 'sk-ssh-ed25519@openssh.com'
  const bytes = Buffer.concat([text(type), text(Buffer.alloc(32, 7)), text('ssh:')])
  const PublicKey = `${type} ${bytes.toString('base64')} token`
  expect(await cove.tool('key-create', { Name: 'token', PublicKey })).toHaveProperty('ssh_key')
})

test('the same key cannot be there twice', async () => {
  const key = newKey('-t', 'ed25519')
  await cove.tool('key-create', { Name: 'first', PublicKey: key.text })
  const message = await cove.refusal('key-create', { Name: 'second', PublicKey: key.text })
  expect(message).toContain('public_key is already on the account, as "first".')
})

test('what is not a public key is refused with the reason', async () => {
  const good = newKey('-t', 'ed25519')
  const [type, encoded = ''] = good.text.split(' ')
  const cases: [string, string][] = [
    [good.secret, 'is a private key'],
    ['hello', 'has the type "hello"; it must be one of ssh-ed25519, ssh-rsa'],
    [`${type} !!!!`, 'is not valid base64'],
    [`${type} ${encoded.slice(0, 40)}`, 'is cut off'],
    [`ssh-rsa ${encoded}`, 'its bytes are of another type'],
    [`${good.text}${good.text}`, 'must be one line'],
  ]
  for (const [PublicKey, reason] of cases) {
    expect(await cove.refusal('key-create', { Name: 'bad', PublicKey })).toContain(reason)
  }
})

test('arguments are checked before anything is sent', async () => {
  expect(await cove.refusal('key-create', { Name: 'x' })).toContain('PublicKey is required')
  expect(await cove.refusal('key-get', { ID: 'abc' })).toContain('ID must be a number')
  expect(await cove.refusal('key-list', { PerPage: 500 })).toContain('PerPage must be at most 200')
  expect(await cove.refusal('key-list', { page: 1 })).toContain('Its arguments: Page, PerPage')
  expect(await cove.tool('key-list', { Page: '1', PerPage: '5' })).toHaveProperty('meta')
})
