import { Cron } from 'croner'
import { ApiError } from '#core/error.ts'

/** A schedule of five fields, in UTC; anything else is refused with what would be right. */
export const checkCron = (text: string): string => {
  const cron = text.trim().replace(/\s+/g, ' ')
  if (cron.split(' ').length !== 5)
    throw ApiError.badRequest(
      `scheduled_details.cron "${text}" must have five fields (minute hour day month weekday), for example */5 * * * *.`,
    )
  let next: number | undefined
  try {
    next = nextTick(cron, 0)
  } catch (error) {
    throw ApiError.badRequest(
      `scheduled_details.cron "${text}" is not a schedule: ${(error as Error).message}`,
    )
  }
  if (next === undefined)
    throw ApiError.badRequest(`scheduled_details.cron "${text}" names a time that never comes.`)
  return cron
}

/** The first tick after a time, in ms since the epoch; undefined when there is none. */
export const nextTick = (cron: string, after: number): number | undefined =>
  new Cron(cron, { timezone: 'UTC' }).nextRun(new Date(after))?.getTime()
