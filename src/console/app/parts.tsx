import type { ComponentChildren } from 'preact'

export const Fault = ({ text }: { text: string | undefined }) =>
  text ? (
    <p class="fault" role="alert">
      {text}
    </p>
  ) : null

export const Card = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="card" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

const good = new Set([
  'running',
  'online',
  'active',
  'ok',
  'verified',
  'succeeded',
  'completed',
  'ACTIVE',
])
const bad = new Set(['failed', 'errored', 'error', 'refused', 'off'])

/** A state as a word with a colour; the word alone says it too. */
export const State = ({ text }: { text: string }) => (
  <span class={`state ${good.has(text) ? 'good' : bad.has(text) ? 'bad' : 'wait'}`}>{text}</span>
)

interface TableProps {
  head: readonly string[]
  rows: readonly { key: string; cells: readonly ComponentChildren[]; href?: string }[]
  empty: string
}

export const Table = ({ head, rows, empty }: TableProps) =>
  rows.length === 0 ? (
    <p class="quiet">{empty}</p>
  ) : (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {head.map((text) => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells, href }) => (
            <tr key={key}>
              {cells.map((content, column) => (
                <td key={head[column]}>
                  {column === 0 && href ? <a href={href}>{content}</a> : content}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )

export const Code = ({ value }: { value: unknown }) => <pre>{JSON.stringify(value, null, 2)}</pre>

/** How much of something is used. */
export const Gauge = ({
  label,
  used,
  total,
  shown,
}: {
  label: string
  used: number
  total: number
  shown: string
}) => (
  <div class="gauge">
    <span>{label}</span>
    <meter
      min={0}
      max={total}
      high={total * 0.85}
      value={Math.min(used, total)}
      aria-label={label}
    />
    <span class="quiet">{shown}</span>
  </div>
)
