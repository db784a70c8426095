import { pageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { regionSlugs } from '../regions/contract.ts'
import { sizeCatalogue } from './catalogue.ts'
import { sizes } from './contract.ts'

export const sizeService: Service = (on) => {
  on(sizes.list, ({ query }) =>
    pageOfItems(
      'sizes',
      sizeCatalogue.map((size) => ({ ...size, regions: [...regionSlugs] })),
      query,
    ),
  )
}
