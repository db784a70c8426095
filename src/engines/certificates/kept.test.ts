import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAuthority } from './authority.ts'

test('an authority that cannot be read is not replaced by a new one', async () => {
  const home = await mkdtemp(join(tmpdir(), 'cove-authority-'))
  const first = await openAuthority(home, Date.now)
  expect((await openAuthority(home, Date.now)).ca).toBe(first.ca)
  const other = await mkdtemp(join(tmpdir(), 'cove-authority-'))
  await mkdir(join(other, 'authority.pem'))
  await expect(openAuthority(other, Date.now)).rejects.toThrow('EISDIR')
})
