import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { clusters } from '#services/databases/clusters/contract.ts'
import { type World, world } from './world.ts'

const text = readFileSync(projectFile('docs/databases.md'), 'utf8')
const examples = [...text.matchAll(/^cove tools call (\S+)(?: '(.+)')?$/gm)]

let cove: World
beforeAll(async () => {
  cove = await world()
})
afterAll(async () => {
  for (const { id } of (await cove.api(clusters.list, {})).databases)
    await cove.api(clusters.delete, { path: { id } })
  await cove.settle()
  await cove.close()
})

test('every call in the databases page works as written', async () => {
  expect(examples.length).toBeGreaterThan(1)
  for (const [, name = '', args] of examples) await cove.tool(name, args ? JSON.parse(args) : {})
  await cove.settle()
  const { databases } = await cove.api(clusters.list, {})
  expect(databases).toMatchObject([{ name: 'shop', status: 'online', connection: { port: 25060 } }])
})
