import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { allTools } from '#services/catalogue.ts'
import { version } from '#version.ts'
import { cleanEnv, type Running, startCove } from './process.ts'

test('the bundle for desktop assistants is made, unpacks, and serves the tools', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cove-mcpb-'))
  const bundle = join(folder, 'cove.mcpb')
  execFileSync(process.execPath, [projectFile('scripts/mcpb.mjs'), bundle])
  execFileSync(projectFile('node_modules/.bin/mcpb'), ['unpack', bundle, join(folder, 'unpacked')])

  const connect = async (env: NodeJS.ProcessEnv) => {
    const mcp = new Client({ name: 'desktop', version: '1.0.0' })
    const launcher = join(folder, 'unpacked/bin/cove.cjs')
    await mcp.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [launcher, 'mcp'],
        env: cleanEnv(folder, env) as Record<string, string>,
        stderr: 'ignore',
      }),
    )
    return mcp
  }

  const alone = await connect({
    COVE_API_URL: '',
    COVE_API_TOKEN: '',
    SERVICES: '',
    COVE_READ_ONLY: 'false',
  })
  expect((await alone.listTools()).tools).toHaveLength(Object.keys(allTools).length)
  const nowhere = await alone.callTool({ name: 'account-get-information', arguments: {} })
  expect(nowhere).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('No Cove is running here.') }],
  })
  await alone.close()

  const running: Running = await startCove()
  const driving = await connect({ COVE_API_URL: running.url, COVE_API_TOKEN: running.token })
  const account = await driving.callTool({ name: 'account-get-information', arguments: {} })
  expect(account.structuredContent).toMatchObject({ account: { status: 'active' } })
  await driving.close()
  await running.stop()
  rmSync(folder, { recursive: true })
})

test('what is published carries one version', () => {
  const server = JSON.parse(readFileSync(projectFile('server.json'), 'utf8'))
  expect(server.version).toBe(version)
  expect(server.packages[0].version).toBe(version)
})
