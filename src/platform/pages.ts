import type { ListQuery, Table } from './store/store.ts'

interface PageQuery {
  page: number
  per_page: number
}

/** One page of a table, with links and total, as the public API gives it. */
export const pageOf = async <K extends string, T extends object>(
  key: K,
  table: Table<T>,
  query: PageQuery,
  choice: Pick<ListQuery<T>, 'where' | 'newestFirst'> = {},
) => {
  const [items, total] = await Promise.all([
    table.list({ ...choice, limit: query.per_page, offset: (query.page - 1) * query.per_page }),
    table.count(choice.where),
  ])
  return { ...({ [key]: items } as Record<K, T[]>), ...pageFacts(total, query) }
}

/** One page of items that are already in memory. */
export const pageOfItems = <K extends string, T>(key: K, items: readonly T[], query: PageQuery) => {
  const from = (query.page - 1) * query.per_page
  return {
    ...({ [key]: items.slice(from, from + query.per_page) } as Record<K, T[]>),
    ...pageFacts(items.length, query),
  }
}

/** The same in the manner of the gen-ai paths. */
export const genaiPageOf = async <K extends string, T extends object>(
  key: K,
  table: Table<T>,
  query: PageQuery,
  choice: Pick<ListQuery<T>, 'where' | 'newestFirst'> = {},
) => {
  const { links, meta, ...items } = await pageOf(key, table, query, choice)
  return { ...(items as unknown as Record<K, T[]>), ...genaiFacts(links, meta.total, query) }
}

export const genaiPageOfItems = <K extends string, T>(
  key: K,
  items: readonly T[],
  query: PageQuery,
) => {
  const { links, meta, ...rest } = pageOfItems(key, items, query)
  return { ...(rest as unknown as Record<K, T[]>), ...genaiFacts(links, meta.total, query) }
}

interface Links {
  pages?: { first?: string; prev?: string; next?: string; last?: string }
}

const lastPage = (total: number, query: PageQuery) => Math.max(1, Math.ceil(total / query.per_page))

/** Links are relative here; the app makes them absolute, since only it knows the address. */
const pageFacts = (total: number, query: PageQuery): { links: Links; meta: { total: number } } => {
  const last = lastPage(total, query)
  const at = (page: number) => `?page=${page}&per_page=${query.per_page}`
  const pages = {
    ...(query.page > 1 ? { first: at(1), prev: at(Math.min(query.page - 1, last)) } : {}),
    ...(query.page < last ? { next: at(query.page + 1), last: at(last) } : {}),
  }
  return { links: last > 1 ? { pages } : {}, meta: { total } }
}

/** Links and totals of a page that was put together elsewhere. */
export const genaiPageFacts = (total: number, query: PageQuery) =>
  genaiFacts(pageFacts(total, query).links, total, query)

const genaiFacts = (links: Links, total: number, query: PageQuery) => {
  const { prev, ...others } = links.pages ?? {}
  return {
    links: links.pages ? { pages: { ...others, ...(prev ? { previous: prev } : {}) } } : {},
    meta: { page: query.page, pages: lastPage(total, query), total },
  }
}
