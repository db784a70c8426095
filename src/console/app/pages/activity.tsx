import { useState } from 'preact/hooks'
import { get } from '../api.ts'
import { Code, Fault, State } from '../parts.tsx'
import { useLoaded } from '../use.ts'

export interface Call {
  time: string
  who: string
  tool: string
  arguments: unknown
  outcome: string
  message?: string
  duration_ms: number
}

/** Calls of tools, each of which can be opened. */
export const CallList = ({ calls }: { calls: readonly Call[] }) =>
  calls.length === 0 ? (
    <p class="quiet">No tool has been called yet.</p>
  ) : (
    <ul class="calls">
      {calls.map((call) => (
        <li key={`${call.time} ${call.tool}`}>
          <details>
            <summary>
              <time dateTime={call.time}>{new Date(call.time).toLocaleTimeString()}</time>
              <b>{call.tool}</b>
              <State text={call.outcome} />
              <span class="quiet">
                {Math.round(call.duration_ms)} ms, {call.who}
              </span>
            </summary>
            <Code value={call.arguments} />
            {call.message ? <p class="fault">{call.message}</p> : null}
          </details>
        </li>
      ))}
    </ul>
  )

export const Activity = () => {
  const [filter, setFilter] = useState('')
  const { value, fault } = useLoaded(() => get('/v2/cove/audit?limit=200'), 'calls', 1500)
  const wanted = filter.trim().toLowerCase()
  const calls = [...((value?.calls ?? []) as Call[])]
    .reverse()
    .filter((call) => `${call.tool} ${call.who} ${call.outcome}`.toLowerCase().includes(wanted))
  return (
    <>
      <h1>Activity</h1>
      <p class="quiet">Calls of tools as they happen; secrets are left out of the arguments.</p>
      <label class="field">
        Filter by tool, caller or outcome
        <input
          type="search"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </label>
      <Fault text={fault} />
      <div aria-live="polite">
        <CallList calls={calls} />
      </div>
    </>
  )
}
