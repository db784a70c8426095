import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApi } from '#client/client.ts'
import { keys } from '#services/account/keys/contract.ts'
import { consoleLinks } from '#services/cove/console/contract.ts'
import { cove, type Running, startCove } from './process.ts'

const publicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOk840pGgojCtTWSNUK3itOWcsciho5BsEfiDWCurov7 me'

let running: Running
let browser: Browser
beforeAll(async () => {
  running = await startCove()
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  })
})
afterAll(async () => {
  await browser.close()
  await running.stop()
})

const api = () => createApi({ baseUrl: running.url, token: running.token, fetch })

/** A page that notes everything that goes wrong in it. */
const openPage = async (): Promise<{ page: Page; faults: string[] }> => {
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('requestfailed', (request) => faults.push(request.url()))
  page.on('dialog', (dialog) => dialog.accept())
  return { page, faults }
}

test('a link signs a browser in once; the pages show the cloud and what is done in it', async () => {
  const { page, faults } = await openPage()
  const link = (await cove(running.home, ['console'])).out.trim()
  await page.goto(link)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(page.url()).not.toContain('code=')
  await page.getByText('domains', { exact: true }).waitFor()

  // What an assistant does is seen as it happens.
  await page.getByRole('link', { name: 'Activity' }).click()
  await cove(running.home, [
    'tools',
    'call',
    'key-create',
    JSON.stringify({ Name: '<b>laptop</b>', PublicKey: publicKey }),
  ])
  await page.getByText('key-create').waitFor()

  // Names that people gave are text, whatever they contain.
  await page.goto(`${running.url}/#/resources/ssh-keys`)
  await page.getByRole('link', { name: '<b>laptop</b>' }).click()
  await page.getByRole('heading', { name: '<b>laptop</b>' }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('There are no ssh keys yet.').waitFor()
  expect((await api()(keys.list, {})).ssh_keys).toEqual([])

  await page.goto(`${running.url}/#/tools/key-get`)
  await page.getByLabel('ID (required)').fill('77')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('alert').getByText('SSH key 77 was not found.').waitFor()
  expect(faults).toEqual([])

  const { page: second } = await openPage()
  await second.goto(link)
  await second.getByText('This link was used or is too old.').waitFor()
  await page.close()
  await second.close()
})

test('a token signs in by hand, and a wrong one is refused', async () => {
  const { page } = await openPage()
  await page.goto(running.url)
  await page.getByLabel('Token').fill('nonsense-token')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('unknown, expired or revoked').waitFor()
  await page.getByLabel('Token').fill(running.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  await page.close()
})

test('no other site can sign in or use the page', async () => {
  const { url } = await api()(consoleLinks.create, {})
  const code = url.split('code=')[1]
  const foreign = await fetch(`${running.url}/console/session`, {
    method: 'POST',
    headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  expect(foreign.status).toBe(403)
  const { headers } = await fetch(running.url)
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
})
