import { z } from 'zod'

/** Query numbers arrive as text; a client may send either. */
const count = (max: number) => z.coerce.number<number | string>().int().min(1).max(max)

/** `page` and `per_page`, as nearly every list of the public API takes them. */
export const Page = z.object({
  page: count(Number.MAX_SAFE_INTEGER).default(1),
  per_page: count(200).default(20),
})
export type Page = z.output<typeof Page>

/** Gen-AI lists: larger pages. */
export const GenaiPage = z.object({
  page: count(Number.MAX_SAFE_INTEGER).default(1),
  per_page: count(1000).default(20),
})

const Links = z.object({
  pages: z
    .object({
      first: z.string().optional(),
      prev: z.string().optional(),
      next: z.string().optional(),
      last: z.string().optional(),
    })
    .optional(),
})

const GenaiLinks = z.object({
  pages: z
    .object({
      first: z.string().optional(),
      previous: z.string().optional(),
      next: z.string().optional(),
      last: z.string().optional(),
    })
    .optional(),
})

/** `{ domain: … }` */
export const one = <K extends string, T extends z.ZodType>(key: K, item: T) =>
  z.object({ [key]: item } as Record<K, T>)

/** `{ domains: […], links, meta: { total } }` */
export const listOf = <K extends string, T extends z.ZodType>(key: K, item: T) =>
  z.object({
    ...({ [key]: z.array(item) } as Record<K, z.ZodArray<T>>),
    links: Links.optional(),
    meta: z.object({ total: z.number().int() }).optional(),
  })

/** `{ model_routers: […], links, meta: { page, pages, total } }` */
export const genaiListOf = <K extends string, T extends z.ZodType>(key: K, item: T) =>
  z.object({
    ...({ [key]: z.array(item) } as Record<K, z.ZodArray<T>>),
    links: GenaiLinks.optional(),
    meta: z
      .object({
        page: z.number().int(),
        pages: z.number().int(),
        total: z.number().int(),
      })
      .optional(),
  })
