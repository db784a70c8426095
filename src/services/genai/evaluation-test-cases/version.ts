import { ApiError } from '#core/error.ts'
import type { StoredTestCase, StoredVersion } from './contract.ts'

/** One version of a test case, the latest unless a number is given. */
export const versionOf = (stored: StoredTestCase, wanted?: number): StoredVersion => {
  const version = wanted === undefined ? stored.versions.at(-1) : stored.versions[wanted - 1]
  if (!version) throw ApiError.notFound(`Version ${wanted} of test case ${stored.test_case_uuid}`)
  return version
}
