import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { openSite } from '../../../test/site.ts'
import { world } from '../../../test/world.ts'

const run = promisify(execFile)
const text = readFileSync(projectFile('docs/networking.md'), 'utf8')
const blocks = [...text.matchAll(/^```(tool|sh)\n([\s\S]*?)^```/gm)].map(([, kind, code = '']) => ({
  kind,
  code,
}))

test('the examples of the manual do what it says', async () => {
  const cove = await world()
  const site = await openSite({
    api: cove.api,
    name: 'instance',
    answer: () => 'hello from the instance',
  })
  const known: Record<string, string> = { INSTANCE: String(site.id) }
  const env = () => ({
    ...process.env,
    DNS_PORT: String(cove.cove.status().dns?.port),
    BALANCER_IP: known.BALANCER_IP,
  })
  for (const { kind, code } of blocks) {
    if (kind === 'sh') {
      const expected = [...code.matchAll(/^# (.*)$/gm)].map(([, line]) => line)
      const { stdout } = await run('sh', ['-c', code], { env: env() })
      expect(stdout.trim().split('\n')).toEqual(expected)
      continue
    }
    for (const line of code.trim().split('\n')) {
      const [, name = '', args = ''] = /^(\S+) (.*)$/.exec(line) ?? []
      const filled = args.replace(/<(\w+)>/g, (_all, key: string) => known[key] ?? '')
      const answer = await cove.tool(name, JSON.parse(filled))
      await cove.settle()
      const { certificate, load_balancer: balancer } = answer as Record<
        string,
        Record<string, string>
      >
      if (certificate) known.CERTIFICATE = certificate.id ?? ''
      if (balancer) {
        known.BALANCER = balancer.id ?? ''
        known.BALANCER_IP = balancer.ip ?? ''
      }
      if (name === 'certificate-get') expect(certificate?.state).toBe('verified')
      if (name === 'load-balancer-get') expect(balancer?.status).toBe('active')
    }
  }
  expect(blocks.length).toBe(5)
  await cove.close()
  await site.stop()
})
