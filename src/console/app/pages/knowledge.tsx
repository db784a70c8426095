import { useState } from 'preact/hooks'
import { get, type Json, rpc } from '../api.ts'
import { Fault } from '../parts.tsx'
import { useLoaded } from '../use.ts'

interface Found {
  text_content: string
  metadata: Json
}

/** A place to try searches: the same tool that assistants use. */
export const Knowledge = () => {
  const bases = useLoaded(() => get('/v2/gen-ai/knowledge_bases?per_page=200'), 'bases')
  const found = (bases.value?.knowledge_bases ?? []) as { uuid: string; name: string }[]
  const [chosen, setChosen] = useState<string>()
  const [query, setQuery] = useState('')
  const [alpha, setAlpha] = useState(0.5)
  const [results, setResults] = useState<Found[]>()
  const [fault, setFault] = useState<string>()
  const base = chosen ?? found[0]?.uuid

  const search = async (event: Event) => {
    event.preventDefault()
    setFault(undefined)
    try {
      const result = await rpc('/v1/mcp', 'tools/call', {
        name: 'retrieve_knowledge_base',
        arguments: { knowledge_base_id: base, query, num_results: 10, alpha },
      })
      if (result.isError) throw new Error((result.content as { text: string }[])[0]?.text)
      setResults((result.structuredContent as { results: Found[] }).results)
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
  }

  if (bases.value && found.length === 0) {
    return (
      <>
        <h1>Knowledge</h1>
        <p>
          There is no knowledge base yet. <code>cove kb create NAME FOLDER</code> makes one.
        </p>
      </>
    )
  }
  return (
    <>
      <h1>Knowledge</h1>
      <form onSubmit={search}>
        <label class="field">
          Knowledge base
          <select value={base} onChange={(event) => setChosen(event.currentTarget.value)}>
            {found.map(({ uuid, name }) => (
              <option key={uuid} value={uuid}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Search
          <input required value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
        </label>
        <label class="field">
          By word (0) to by meaning (1): {alpha}
          <input
            type="range"
            min={0}
            max={1}
            step={0.1}
            value={alpha}
            onInput={(event) => setAlpha(Number(event.currentTarget.value))}
          />
        </label>
        <button type="submit">Search</button>
      </form>
      <Fault text={fault ?? bases.fault} />
      {results ? (
        <ol class="found">
          {results.map(({ text_content, metadata }) => (
            <li key={text_content}>
              <p>{text_content}</p>
              <p class="quiet">
                {Object.entries(metadata)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join(' · ')}
              </p>
            </li>
          ))}
        </ol>
      ) : null}
    </>
  )
}
