import { expect, test } from 'vitest'
import {
  bearerToken,
  challenge,
  metadataPaths,
  type Protection,
  resourceMetadata,
} from './challenge.ts'

const origin = 'https://cloud.example'
const protection: Protection = { path: '/mcp', name: 'Cove "tools"', scopes: ['read', 'write'] }

test('a client without a token learns where the description of the endpoint is', () => {
  const response = challenge(origin, protection, 'A token is needed.')
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe(
    'Bearer realm="Cove \\"tools\\"", resource_metadata="https://cloud.example/.well-known/oauth-protected-resource/mcp", scope="read write"',
  )
  expect(metadataPaths(protection)).toEqual([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
  ])
  expect(resourceMetadata(origin, protection)).toMatchObject({
    resource: 'https://cloud.example/mcp',
    bearer_methods_supported: ['header'],
    scopes_supported: ['read', 'write'],
  })
})

test('a wrong token and a narrow one are told apart', async () => {
  const wrong = challenge(origin, protection, 'The token is\r\nunknown: ü.', 'invalid_token')
  expect(wrong.status).toBe(401)
  expect(wrong.headers.get('www-authenticate')).toContain(
    'error="invalid_token", error_description="The token is??unknown: ?."',
  )
  const narrow = challenge(origin, protection, 'This needs write.', 'insufficient_scope')
  expect(narrow.status).toBe(403)
  expect(await narrow.json()).toEqual({ id: 'forbidden', message: 'This needs write.' })
})

test('a bearer token is read in any spelling of the scheme', () => {
  const token = (authorization: string) =>
    bearerToken(new Request(origin, { headers: { authorization } }))
  expect(token('Bearer abc')).toBe('abc')
  expect(token('bearer  abc ')).toBe('abc')
  for (const none of ['', 'Bearer', 'Basic abc', 'Bearer a b']) expect(token(none)).toBeUndefined()
})
