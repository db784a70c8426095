import type { Report } from './report.ts'

type MetricReport = Report['metrics'][number]

const fixed = (value: number) => String(Math.round(value * 100) / 100)

/** A mean on its scale from 0 to 100, with the interval it lies in and the mark it must reach. */
export const scalePlot = ({ mean, mean_interval, threshold }: MetricReport): string => {
  if (mean === undefined || !mean_interval) return ''
  const [low, high] = mean_interval
  const x = (value: number) => fixed(8 + (Math.min(100, Math.max(0, value)) / 100) * 284)
  return `<svg class="scale" viewBox="0 0 300 30" role="img" aria-label="mean ${fixed(mean)}, between ${fixed(low)} and ${fixed(high)}">
<line class="axis" x1="8" x2="292" y1="15" y2="15"/>
<line class="mark" x1="${x(threshold)}" x2="${x(threshold)}" y1="4" y2="26"/>
<line class="interval" x1="${x(low)}" x2="${x(high)}" y1="15" y2="15"/>
<circle class="point" cx="${x(mean)}" cy="15" r="5"/>
</svg>`
}

/** How the scores are distributed; those that do not pass are drawn in another colour. */
export const histogramPlot = ({ histogram, threshold, inverted, scored }: MetricReport): string => {
  const most = Math.max(1, ...histogram)
  const width = 300 / histogram.length
  const bars = histogram.map((count, at) => {
    const height = count === 0 ? 0 : Math.max(2, (count / most) * 70)
    const from = (at * 100) / histogram.length
    const to = from + 100 / histogram.length
    const last = at === histogram.length - 1
    const passing = inverted ? from <= threshold : last ? to >= threshold : to > threshold
    return `<rect class="${passing ? 'pass' : 'fail'}" x="${fixed(at * width + 1)}" y="${fixed(74 - height)}" width="${fixed(width - 2)}" height="${fixed(height)}"><title>${fixed(from)} to ${fixed(to)}: ${count} of ${scored}</title></rect>`
  })
  return `<svg class="histogram" viewBox="0 0 300 90" role="img" aria-label="distribution of ${scored} scores">
${bars.join('\n')}
<line class="axis" x1="0" x2="300" y1="74.5" y2="74.5"/>
<text x="0" y="87">0</text><text x="150" y="87" text-anchor="middle">50</text><text x="300" y="87" text-anchor="end">100</text>
</svg>`
}

/** A difference with its interval around zero; the scale fits the widest of all. */
export const differencePlot = (
  {
    difference,
    interval: [low, high],
    inverted,
  }: {
    difference: number
    interval: readonly [number, number]
    inverted: boolean
  },
  widest: number,
): string => {
  const x = (value: number) => fixed(150 + (value / (widest || 1)) * 136)
  const better = inverted ? high < 0 : low > 0
  const worse = inverted ? low > 0 : high < 0
  const tone = better ? 'better' : worse ? 'worse' : 'open'
  return `<svg class="scale ${tone}" viewBox="0 0 300 30" role="img" aria-label="difference ${fixed(difference)}, between ${fixed(low)} and ${fixed(high)}">
<line class="axis" x1="8" x2="292" y1="15" y2="15"/>
<line class="mark" x1="150" x2="150" y1="4" y2="26"/>
<line class="interval" x1="${x(low)}" x2="${x(high)}" y1="15" y2="15"/>
<circle class="point" cx="${x(difference)}" cy="15" r="5"/>
</svg>`
}
