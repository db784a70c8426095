import { int, intText, text } from '#mcp/args.ts'

/** Arguments that all database tools share. */
export const id = text('Cluster UUID')

export const paging = {
  page: intText('Page number', 1).optional(),
  per_page: int('Page size', 1, 200).optional(),
}

/** Only what was given is sent. */
export const pageOf = (args: { page?: number | undefined; per_page?: number | undefined }) => ({
  ...(args.page === undefined ? {} : { page: args.page }),
  ...(args.per_page === undefined ? {} : { per_page: args.per_page }),
})
