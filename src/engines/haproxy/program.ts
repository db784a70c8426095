import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Applied } from './model.ts'

/** Folders of system programs are not on everybody's PATH. */
const usualPlaces = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy']

export const findProgram = (): string => usualPlaces.find((place) => existsSync(place)) ?? 'haproxy'

const missing =
  'HAProxy is not installed on this machine, so nothing listens; install the Debian package haproxy.'

/** Whether the program can be run at all. */
export const probe = (program: string): Promise<Applied> =>
  new Promise((resolve) => {
    execFile(program, ['-v'], (error) =>
      resolve(error ? { enforced: false, reason: missing } : { enforced: true }),
    )
  })
