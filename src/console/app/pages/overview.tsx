import { get, type Json } from '../api.ts'
import { kinds, slugOf } from '../kinds.ts'
import { Card, Fault, Gauge, State, Table } from '../parts.tsx'
import { useLoaded } from '../use.ts'
import { type Call, CallList } from './activity.tsx'

interface Standing {
  name: string
  state: string
  enforced: boolean
  reason?: string
  fix?: string
}

interface Use {
  used: number
  total: number
}

const gigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GB`

const countOf = async ({ path, key }: { path: string; key: string }): Promise<string> => {
  try {
    const answer = await get(`${path}?per_page=1`)
    const total = (answer.meta as { total?: number } | undefined)?.total
    return String(total ?? (answer[key] as unknown[] | null)?.length ?? 0)
  } catch {
    return '–' // Not served, or not for this token; the page of the kind says why.
  }
}

export const Overview = () => {
  const status = useLoaded(() => get('/v2/cove/status'), 'status', 5000)
  const machine = useLoaded(() => get('/v2/cove/machine'), 'machine', 5000)
  const calls = useLoaded(() => get('/v2/cove/audit?limit=8'), 'calls', 2000)
  const counts = useLoaded(() => Promise.all(kinds.map(countOf)), 'counts', 10_000)
  const services = (status.value?.services ?? []) as Standing[]
  const use = machine.value as { cpu: Use; memory: Use; disk: Use } | undefined

  return (
    <>
      <h1>Overview</h1>
      <Fault text={status.fault} />
      <div class="grid">
        <Card title="Services">
          <Table
            head={['Service', 'State', 'Effect']}
            empty="No service has reported yet."
            rows={services.map(({ name, state, enforced, reason, fix }) => ({
              key: name,
              cells: [
                name,
                <State key="state" text={state} />,
                enforced ? 'enforced' : `recorded only: ${reason ?? ''}${fix ? ` (${fix})` : ''}`,
              ],
            }))}
          />
        </Card>
        <Card title="Resources">
          <ul class="counts">
            {kinds.map((kind, index) => (
              <li key={kind.label}>
                <a href={`#/resources/${slugOf(kind)}`}>
                  <b>{counts.value?.[index] ?? '…'}</b> {kind.label}
                </a>
              </li>
            ))}
          </ul>
        </Card>
        <Card title="Machine">
          {use ? (
            <>
              <Gauge
                label="CPU"
                {...use.cpu}
                shown={`${use.cpu.used.toFixed(1)} of ${use.cpu.total} busy`}
              />
              <Gauge
                label="Memory"
                {...use.memory}
                shown={`${gigabytes(use.memory.used)} of ${gigabytes(use.memory.total)}`}
              />
              <Gauge
                label="Disk"
                {...use.disk}
                shown={`${gigabytes(use.disk.used)} of ${gigabytes(use.disk.total)}`}
              />
            </>
          ) : (
            <Fault text={machine.fault} />
          )}
          <Endpoints status={status.value} />
        </Card>
        <Card title="Recent activity">
          <CallList calls={[...((calls.value?.calls ?? []) as Call[])].reverse()} />
        </Card>
      </div>
    </>
  )
}

const Endpoints = ({ status }: { status: Json | undefined }) => {
  if (!status) return null
  const dns = status.dns as { host: string; port: number } | null
  return (
    <dl>
      <dt>Tools (MCP)</dt>
      <dd>
        <code>{String(status.url)}/mcp</code>
      </dd>
      <dt>API</dt>
      <dd>
        <code>{String(status.url)}/v2</code>
      </dd>
      {dns ? (
        <>
          <dt>DNS</dt>
          <dd>
            <code>
              {dns.host}:{dns.port}
            </code>
          </dd>
        </>
      ) : null}
    </dl>
  )
}
