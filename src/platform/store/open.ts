import type { Store } from './store.ts'

/** SQLite in the file, or PostgreSQL when it is asked for; only what is used is loaded. */
export const openStore = async (
  file: string,
  { databaseUrl, log }: { databaseUrl?: string; log?: (sentence: string) => void } = {},
): Promise<Store> => {
  if (!databaseUrl) return (await import('./sqlite.ts')).openSqlite(file)
  return (await import('./postgres.ts')).openPostgres(databaseUrl, { log })
}
