import { differencePlot, histogramPlot, scalePlot } from './plots.ts'
import type { Report } from './report.ts'
import { style } from './style.ts'

/** One page that needs nothing else: no script, no font, no network. */
export const reportPage = (report: Report): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(report.run.name)}: evaluation report</title>
<style>${style}</style>
</head>
<body>
${head(report)}
${scores(report)}
${comparison(report)}
${distributions(report)}
${spending(report)}
${worst(report)}
</body>
</html>
`

const head = ({ run, rows, answered }: Report): string => `<header>
<h1>${escaped(run.name)}</h1>
<p class="quiet">${run.kind === 'model' ? 'Model' : 'Agent'} evaluation ${escaped(run.uuid)}</p>
${run.error ? `<p class="error">${escaped(run.error)}</p>` : ''}
${facts([
  ['Status', plainStatus(run.status)],
  ['Candidate', run.candidate],
  ['Judge', run.judge],
  ['Dataset', run.dataset],
  ['Prompts', `${answered} of ${rows} answered`],
  ['Finished', run.completed_at?.replace('T', ' ').slice(0, 19)],
])}
</header>`

const scores = ({ metrics }: Report): string => `<section>
<h2>Scores</h2>
<p class="quiet small">Mean with its 95 % interval (bootstrap); the dashed mark is the pass threshold. Pass rate with its 95 % interval (Wilson).</p>
<div class="wide"><table>
<tr><th>Metric</th><th class="number">Mean</th><th></th><th class="number">Pass rate</th><th class="number">Scored</th><th class="number">Failed</th><th class="number">Skipped</th></tr>
${metrics
  .map(
    (metric) => `<tr>
<td><strong>${escaped(metric.name)}</strong>${metric.inverted ? ' <span class="badge">lower is better</span>' : ''}<div class="quiet small">${escaped(metric.description)}</div></td>
<td class="number">${metric.mean === undefined ? '–' : `${one(metric.mean)}<div class="quiet small">${range(metric.mean_interval, 1)}</div>`}</td>
<td>${scalePlot(metric)}</td>
<td class="number">${metric.pass_share === undefined ? '–' : `${one(100 * metric.pass_share)} %<div class="quiet small">${range(metric.pass_interval, 100)}</div>`}</td>
<td class="number">${metric.scored}</td><td class="number">${metric.failed}</td><td class="number">${metric.skipped}</td>
</tr>`,
  )
  .join('\n')}
</table></div>
</section>`

const comparison = ({ comparison: other }: Report): string => {
  if (!other) return ''
  const widest = Math.max(...other.metrics.flatMap(({ interval }) => interval.map(Math.abs)), 1)
  return `<section>
<h2>Compared with ${escaped(other.name)}</h2>
<p class="quiet small">Differences on the prompts that both runs scored, with 95 % intervals. p: chance of so large a difference if the two were alike.</p>
<div class="wide"><table>
<tr><th>Metric</th><th class="number">Difference</th><th></th><th class="number">p</th><th class="number">Passes gained / lost</th><th class="number">p (McNemar)</th><th class="number">Pairs</th></tr>
${other.metrics
  .map(
    (metric) => `<tr><td>${escaped(metric.name)}</td>
<td class="number">${signed(metric.difference)}<div class="quiet small">${range(metric.interval, 1)}</div></td>
<td>${differencePlot(metric, widest)}</td>
<td class="number">${chance(metric.p)}</td><td class="number">${metric.onlySecond} / ${metric.onlyFirst}</td>
<td class="number">${chance(metric.mcnemar)}</td><td class="number">${metric.pairs}</td></tr>`,
  )
  .join('\n')}
</table></div>
${other.metrics.length === 0 ? '<p>The two runs share no scored prompts.</p>' : ''}
</section>`
}

const distributions = ({ metrics }: Report): string => `<section>
<h2>Distributions</h2>
<div class="grid">
${metrics
  .filter(({ scored }) => scored > 0)
  .map((metric) => {
    const repeats =
      metric.agreement === undefined
        ? ''
        : `<p class="quiet small">Repeated judgements agree on ${one(100 * metric.agreement)} %.</p>`
    return `<div><h3>${escaped(metric.name)}</h3>${histogramPlot(metric)}${repeats}</div>`
  })
  .join('\n')}
</div>
</section>`

const spending = ({ run }: Report): string => {
  const { latency_ms: latency, tokens } = run
  if (!latency || !tokens) return ''
  const ms = (name: string) => `${Math.round(latency[name] ?? 0)} ms`
  const count = (name: string) => Number(tokens[name] ?? 0).toLocaleString('en')
  return `<section>
<h2>Cost and latency</h2>
${facts([
  ['Cost', run.cost_usd === undefined ? undefined : `$${run.cost_usd.toFixed(4)}`],
  [
    'Candidate tokens',
    `${count('total_candidate_input_tokens')} in, ${count('total_candidate_output_tokens')} out`,
  ],
  [
    'Judge tokens',
    `${count('total_judge_input_tokens')} in, ${count('total_judge_output_tokens')} out`,
  ],
  ['Latency, median', ms('p50_latency_ms')],
  ['Latency, 90th percentile', ms('p90_latency_ms')],
  ['Latency, 95th percentile', ms('p95_latency_ms')],
  ['Latency, longest', ms('max_e2e_latency_ms')],
])}
</section>`
}

const worst = ({ worst: rows }: Report): string => `<section>
<h2>Worst prompts</h2>
${rows.length === 0 ? '<p>Every prompt passes every metric.</p>' : rows.map(worstRow).join('\n')}
</section>`

const worstRow = (row: Report['worst'][number]): string => `<details>
<summary><span class="quiet">row ${row.row}</span><span class="text">${escaped(row.input.slice(0, 200))}</span>${row.scores
  .filter(({ value }) => value !== undefined)
  .slice(0, 3)
  .map(({ name, value = 0 }) => `<span class="badge">${escaped(name)} ${one(value)}</span>`)
  .join('')}</summary>
${block('Prompt', row.input)}
${block('Response', row.output)}
${block('Ground truth', row.ground_truth)}
${row.error ? `<p class="error">${escaped(row.error)}</p>` : ''}
<div class="wide"><table>
${row.scores
  .map(
    ({ name, value, status, reasoning, error }) =>
      `<tr><td>${escaped(name)}</td><td class="number">${value === undefined ? status.toLowerCase() : one(value)}</td><td class="small">${escaped(reasoning ?? error ?? '')}</td></tr>`,
  )
  .join('\n')}
</table></div>
</details>`

const block = (title: string, text: string | undefined): string =>
  text === undefined
    ? ''
    : `<div class="quiet small">${title}</div><pre>${escaped(text.slice(0, 20_000))}</pre>`

const facts = (pairs: [string, string | undefined][]): string =>
  `<dl class="facts">${pairs
    .filter(([, value]) => value !== undefined)
    .map(([name, value = '']) => `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`)
    .join('')}</dl>`

const plainStatus = (status: string): string =>
  status
    .replace(/^(MODEL_)?EVALUATION_RUN_/, '')
    .replaceAll('_', ' ')
    .toLowerCase()

const one = (value: number): string => value.toFixed(1)
const signed = (value: number): string => `${value > 0 ? '+' : ''}${one(value)}`
const chance = (p: number): string => (p < 0.001 ? '< 0.001' : p.toFixed(3))
const range = (interval: readonly [number, number] | undefined, scale: number): string =>
  interval ? `${one(interval[0] * scale)} to ${one(interval[1] * scale)}` : ''

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign)
