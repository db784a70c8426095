import type { Service } from '#platform/service.ts'
import { type Status, status } from './contract.ts'

export const statusService =
  (current: () => Status): Service =>
  (on) => {
    on(status.get, () => current())
  }
