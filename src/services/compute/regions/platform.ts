import { pageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { allRegions, regions } from './contract.ts'

export const regionService: Service = (on) => {
  on(regions.list, ({ query }) => pageOfItems('regions', allRegions, query))
}
