import { useState } from 'preact/hooks'
import { type Json, rpc } from '../api.ts'
import { Code, Fault } from '../parts.tsx'
import { useLoaded } from '../use.ts'

interface Schema {
  type?: string
  description?: string
  enum?: string[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
}

interface Tool {
  name: string
  title: string
  description: string
  inputSchema: Schema
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean }
}

/** The catalogue, with a form for each tool made from its schema. */
export const Tools = ({ name }: { name: string | undefined }) => {
  const [search, setSearch] = useState('')
  const { value, fault } = useLoaded(() => rpc('/mcp', 'tools/list', {}), 'tools')
  const all = (value?.tools ?? []) as Tool[]
  const tool = all.find((each) => each.name === name)
  if (tool) return <Try key={tool.name} tool={tool} />
  const wanted = search.trim().toLowerCase()
  const shown = all.filter((each) =>
    `${each.name} ${each.description}`.toLowerCase().includes(wanted),
  )
  return (
    <>
      <h1>Tools</h1>
      <label class="field">
        Search {all.length} tools
        <input
          type="search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      <Fault text={fault} />
      <ul class="tools">
        {shown.map((each) => (
          <li key={each.name}>
            <a href={`#/tools/${each.name}`}>{each.name}</a>{' '}
            <span class="quiet">{each.description}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

const Try = ({ tool }: { tool: Tool }) => {
  const [result, setResult] = useState<Json>()
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const fields = Object.entries(tool.inputSchema.properties ?? {})

  const run = async (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    if (tool.annotations.destructiveHint && !confirm(`${tool.title}? This cannot be undone.`))
      return
    setBusy(true)
    setFault(undefined)
    try {
      const given = fields.flatMap(([field, schema]) => argument(field, schema, form.get(field)))
      setResult(
        await rpc('/mcp', 'tools/call', { name: tool.name, arguments: Object.fromEntries(given) }),
      )
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
    setBusy(false)
  }

  return (
    <>
      <p>
        <a href="#/tools">All tools</a>
      </p>
      <h1>{tool.title}</h1>
      <p>
        <code>{tool.name}</code>: {tool.description}
      </p>
      <form onSubmit={run}>
        {fields.map(([field, schema]) => (
          <div class="field" key={field}>
            <label for={`argument-${field}`}>
              {field}
              {tool.inputSchema.required?.includes(field) ? ' (required)' : ''}
            </label>
            <span class="quiet">{schema.description}</span>
            <Field
              name={field}
              schema={schema}
              required={tool.inputSchema.required?.includes(field) ?? false}
            />
          </div>
        ))}
        <button
          type="submit"
          disabled={busy}
          class={tool.annotations.destructiveHint ? 'danger' : ''}
        >
          {busy ? 'Running …' : 'Run'}
        </button>
      </form>
      <Fault
        text={
          fault ?? (result?.isError ? (result.content as { text: string }[])[0]?.text : undefined)
        }
      />
      {result && !result.isError ? (
        <>
          <Code value={result.structuredContent} />
          {(result.content as { text: string }[]).slice(1).map(({ text }) => (
            <p key={text} class="quiet">
              {text}
            </p>
          ))}
        </>
      ) : null}
    </>
  )
}

const Field = ({ name, schema, required }: { name: string; schema: Schema; required: boolean }) => {
  const id = `argument-${name}`
  const preset = schema.default === undefined ? '' : String(schema.default)
  if (schema.enum || schema.type === 'boolean') {
    const choices = schema.enum ?? ['true', 'false']
    return (
      <select id={id} name={name} required={required} defaultValue={preset}>
        <option value="" />
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    )
  }
  if (schema.type === 'object' || schema.type === 'array') {
    return (
      <textarea
        id={id}
        name={name}
        required={required}
        rows={4}
        placeholder={schema.type === 'array' ? '[ … ]' : '{ … }'}
      />
    )
  }
  return <input id={id} name={name} required={required} defaultValue={preset} />
}

/** An empty field is an argument that is not given; structures are written as JSON. */
const argument = (
  name: string,
  { type }: Schema,
  given: FormDataEntryValue | null,
): [string, unknown][] => {
  const text = String(given ?? '').trim()
  if (text === '') return []
  return [[name, type === 'object' || type === 'array' ? JSON.parse(text) : text]]
}
