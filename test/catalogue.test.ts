import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { encode } from 'gpt-tokenizer'
import { expect, test } from 'vitest'
import { builtFile, projectFile } from '#core/built.ts'
import { describe as published } from '#mcp/describe.ts'
import { allTools, catalogue } from '#services/catalogue.ts'
import { render } from '#services/render.ts'

const tools = Object.entries(allTools)

test.each(tools)('%s is published as recorded', async (name, tool) => {
  const text = `${JSON.stringify(published(name, tool), null, 2)}\n`
  await expect(text).toMatchFileSnapshot(projectFile(`test/catalogue/${name}.json`))
})

test.each(tools)('%s says what a model needs', (name, tool) => {
  expect(name).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)+$/)
  expect(tool.title).toMatch(/^[A-Z].*[^.]$/)
  expect(tool.about).toMatch(/^[A-Z].{10,400}\.$/s)
  expect(encode(tool.about).length, `tokens of ${tool.about}`).toBeLessThanOrEqual(30)
  const schema = published(name, tool).inputSchema as Schema
  for (const [argument, part] of Object.entries(schema.properties ?? {})) {
    expect(part.description, `${name} ${argument}`).toBeTruthy()
    expect(encode(part.description ?? '').length, `${name} ${argument}`).toBeLessThanOrEqual(50)
    checkArrays(part, `${name}.${argument}`)
  }
})

test.each(tools)('%s has schemas that compile under JSON Schema 2020-12', (name, tool) => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false })
  const { inputSchema, outputSchema } = published(name, tool) as Record<string, object>
  for (const schema of [inputSchema, outputSchema]) if (schema) ajv.compile(schema)
})

/** Tokens of what the official server 1.0.70 publishes for the same tools (`node scripts/bench.mjs start`). */
const officialTokens = 29_217

test('the whole list costs a model at most 0.7 of what the official one does', () => {
  const list = tools.map(([name, tool]) => published(name, tool))
  expect(encode(JSON.stringify(list)).length / officialTokens).toBeLessThanOrEqual(0.7)
})

test('reads are marked as reads and deletions as destructive', () => {
  for (const [name, tool] of tools) {
    const methods = new Set(tool.uses.map((operation) => operation.method))
    if (tool.effect === 'read') expect([...methods], name).not.toContain('DELETE')
    if (/-(get|list)(-|$)/.test(name)) expect(tool.effect, name).toBe('read')
    if (/-delete(-|$)/.test(name)) expect(tool.effect, name).toBe('delete')
  }
})

test('the built catalogue is the one of the sources', () => {
  expect(readFileSync(builtFile('catalogue.json'), 'utf8')).toBe(render())
})

test('services have the names that people select them by', () => {
  const names = [
    'accounts',
    'databases',
    'functions',
    'networking',
    'genai-inferencerouter',
    'genai-evaluation',
  ]
  for (const service of Object.keys(catalogue)) expect(names).toContain(service)
})

interface Schema {
  type?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
}

const checkArrays = (schema: Schema, where: string) => {
  if (schema.type === 'array') expect(schema.items, where).toBeDefined()
  if (schema.items) checkArrays(schema.items, `${where}[]`)
  for (const [name, part] of Object.entries(schema.properties ?? {}))
    checkArrays(part, `${where}.${name}`)
}
