import { z } from 'zod'
import { resource } from '#core/operation.ts'
import { listOf, Page } from '#core/page.ts'
import { sizeSlugs } from '../sizes/catalogue.ts'

export const Region = z.object({
  name: z.string(),
  slug: z.string(),
  features: z.array(z.string()),
  available: z.boolean(),
  sizes: z.array(z.string()),
})
export type Region = z.infer<typeof Region>

export const regions = {
  list: resource('regions').get('/v2/regions', {
    query: Page,
    returns: listOf('regions', Region),
  }),
}

/** On one machine a region is a label, kept so that requests mean the same here and in the real cloud. */
const places: Record<string, string> = {
  nyc1: 'New York 1',
  nyc2: 'New York 2',
  nyc3: 'New York 3',
  sfo2: 'San Francisco 2',
  sfo3: 'San Francisco 3',
  tor1: 'Toronto 1',
  atl1: 'Atlanta 1',
  ams3: 'Amsterdam 3',
  lon1: 'London 1',
  fra1: 'Frankfurt 1',
  blr1: 'Bangalore 1',
  sgp1: 'Singapore 1',
  syd1: 'Sydney 1',
}

export const allRegions: readonly Region[] = Object.entries(places).map(([slug, name]) => ({
  name,
  slug,
  features: ['backups', 'ipv6', 'metadata', 'storage'],
  available: true,
  sizes: sizeSlugs,
}))

export const regionSlugs: readonly string[] = Object.keys(places)

export const regionBySlug = (slug: string): Region | undefined =>
  allRegions.find((region) => region.slug === slug)

/** A region of the catalogue; anything else is refused with the valid names. */
export const RegionSlug = z.string().refine((slug) => slug in places, {
  message: `must be a region: ${regionSlugs.join(', ')}`,
})
