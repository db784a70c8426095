import { createHash } from 'node:crypto'
import type { UsageRecord } from '#platform/meter.ts'

/** `2026-11` */
export type Month = string

export const monthOf = (time: number): Month => new Date(time).toISOString().slice(0, 7)

const startOf = (month: Month): number => Date.parse(`${month}-01T00:00:00Z`)

export const endOf = (month: Month): number => {
  const start = new Date(startOf(month))
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)
}

/** Hours for which a monthly price is charged at most. */
const billedHours = 672
const hour = 3_600_000

/** What a month of usage costs, in US dollars: each resource by the hour, capped at its monthly price. */
export const costOf = (usage: readonly UsageRecord[], month: Month, now: number): number => {
  const from = startOf(month)
  const to = Math.min(endOf(month), now)
  const hours = new Map<string, { hourly: number; hours: number }>()
  for (const record of usage) {
    const start = Math.max(from, Date.parse(record.started_at))
    const end = Math.min(to, record.ended_at ? Date.parse(record.ended_at) : now)
    if (end <= start) continue
    const key = `${record.urn} ${record.hourly}`
    const sum = hours.get(key) ?? { hourly: record.hourly, hours: 0 }
    sum.hours += (end - start) / hour
    hours.set(key, sum)
  }
  let total = 0
  for (const { hourly, hours: used } of hours.values())
    total += hourly * Math.min(used, billedHours)
  return total
}

/** The finished months in which anything ran, newest first. */
export const billedMonths = (usage: readonly UsageRecord[], now: number): Month[] => {
  const first = usage.reduce((least, record) => Math.min(least, Date.parse(record.started_at)), now)
  const months: Month[] = []
  for (let month = monthOf(first); month < monthOf(now); month = monthOf(endOf(month))) {
    if (costOf(usage, month, now) > 0) months.unshift(month)
  }
  return months
}

export const money = (dollars: number): string => dollars.toFixed(2)

/** The same month always has the same invoice, without keeping one. */
export const invoiceNumbers = (month: Month) => {
  const hex = createHash('sha256').update(`cove invoice ${month}`).digest('hex')
  return {
    invoice_id: month.replace('-', ''),
    invoice_uuid: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
  }
}
