import { useState } from 'preact/hooks'
import { ask, get, type Json } from '../api.ts'
import { cell, type Kind, kinds, slugOf } from '../kinds.ts'
import { Code, Fault, State, Table } from '../parts.tsx'
import { useLoaded } from '../use.ts'

/** Columns that are told as a state. */
const stateColumns = new Set(['status', 'state'])

export const Resources = ({ slug, id }: { slug: string | undefined; id: string | undefined }) => {
  const kind = kinds.find((each) => slugOf(each) === slug) ?? kinds[0]
  if (!kind) return null
  return (
    <>
      <h1>Resources</h1>
      <nav class="kinds" aria-label="Kinds of resources">
        {kinds.map((each) => (
          <a
            key={each.label}
            href={`#/resources/${slugOf(each)}`}
            aria-current={each === kind ? 'page' : undefined}
          >
            {each.label}
          </a>
        ))}
      </nav>
      {id === undefined ? (
        <List key={kind.path} kind={kind} />
      ) : (
        <Detail key={id} kind={kind} id={id} />
      )}
    </>
  )
}

const List = ({ kind }: { kind: Kind }) => {
  const [search, setSearch] = useState('')
  const { value, fault } = useLoaded(() => get(`${kind.path}?per_page=200`), kind.path, 3000)
  const wanted = search.trim().toLowerCase()
  const items = ((value?.[kind.key] ?? []) as Json[]).filter((item) =>
    JSON.stringify(item).toLowerCase().includes(wanted),
  )
  return (
    <>
      <label class="field">
        Search {kind.label.toLowerCase()}
        <input
          type="search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      <Fault text={fault} />
      <Table
        head={kind.columns}
        empty={
          value
            ? `There are no ${kind.label.toLowerCase()}${wanted ? ' like that' : ' yet'}.`
            : 'Loading …'
        }
        rows={items.map((item) => ({
          key: String(item[kind.id]),
          href: `#/resources/${slugOf(kind)}/${encodeURIComponent(String(item[kind.id]))}`,
          cells: kind.columns.map((column) =>
            stateColumns.has(column) ? (
              <State key={column} text={cell(item[column])} />
            ) : (
              cell(item[column])
            ),
          ),
        }))}
      />
    </>
  )
}

const Detail = ({ kind, id }: { kind: Kind; id: string }) => {
  const path = `${kind.path}/${encodeURIComponent(id)}`
  const { value, fault } = useLoaded(() => get(path), path, 3000)
  const [refusal, setRefusal] = useState<string>()
  const remove = async () => {
    if (!confirm(`Delete ${id}? This cannot be undone.`)) return
    try {
      await ask('DELETE', path)
      location.hash = `#/resources/${slugOf(kind)}`
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error))
    }
  }
  const record = value && (Object.values(value)[0] as Json)
  const connection = record?.connection as { uri?: string } | undefined
  return (
    <>
      <p>
        <a href={`#/resources/${slugOf(kind)}`}>All {kind.label.toLowerCase()}</a>
      </p>
      <h2>{cell(record?.name ?? record?.label ?? id)}</h2>
      <Fault text={fault ?? refusal} />
      {connection?.uri ? <Copy label="Connection string" text={connection.uri} /> : null}
      <Code value={value} />
      <button type="button" class="danger" onClick={remove}>
        Delete
      </button>
    </>
  )
}

const Copy = ({ label, text }: { label: string; text: string }) => {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <p class="copy">
      {label}: <code>{text}</code>{' '}
      <button type="button" onClick={copy}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </p>
  )
}
