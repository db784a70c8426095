import { rm } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { ApiError } from '#core/error.ts'
import { chunkSizes } from '#knowledge/chunk.ts'
import { listFiles } from '#knowledge/files.ts'
import type { Knowledge } from '#knowledge/knowledge.ts'
import { timestamp } from '#platform/clock.ts'
import { genaiPageOf } from '#platform/pages.ts'
import type { Kernel, On } from '#platform/service.ts'
import type { Token } from '#platform/tokens.ts'
import { requireBase } from './bases.ts'
import {
  baseOf,
  type DataSourceRecord,
  dataSourceRecords,
  dataSources,
  knowledgeBaseRecords,
  type NewDataSource,
  uploadRecords,
} from './contract.ts'
import { uploadFile } from './uploads.ts'

export const serveDataSources = (on: On, kernel: Kernel, knowledge: Knowledge) => {
  const { store, clock } = kernel
  const table = store.collection(dataSourceRecords)

  const find = async (path: { knowledge_base_uuid: string; data_source_uuid: string }) => {
    await requireBase(store, path.knowledge_base_uuid)
    const record = await table.get(path.data_source_uuid)
    if (record?.knowledge_base_uuid !== path.knowledge_base_uuid || record.deleting)
      throw ApiError.notFound(`Data source ${path.data_source_uuid}`)
    return record
  }

  on(dataSources.list, async ({ path, query }) => {
    await requireBase(store, path.knowledge_base_uuid)
    const page = await genaiPageOf('knowledge_base_data_sources', table, query, {
      where: { knowledge_base_uuid: path.knowledge_base_uuid, deleting: false },
    })
    return {
      ...page,
      knowledge_base_data_sources: page.knowledge_base_data_sources.map(asDataSource),
    }
  })

  on(dataSources.create, async ({ path, body, token }) => {
    await requireBase(store, path.knowledge_base_uuid)
    const record = await checkedSource(kernel, token, path.knowledge_base_uuid, body)
    return { knowledge_base_data_source: asDataSource(await table.insert(record)) }
  })

  on(dataSources.update, async ({ path, body }) => {
    const { uuid } = await find(path)
    const chunking = checkedChunking(body)
    const record = await table.update(uuid, (current) => ({
      ...current,
      ...chunking,
      updated_at: timestamp(clock),
    }))
    return { knowledge_base_data_source: asDataSource(record) }
  })

  on(dataSources.delete, async ({ path }) => {
    const { uuid } = await find(path)
    await table.update(uuid, (current) => ({ ...current, deleting: true }))
    return { knowledge_base_uuid: path.knowledge_base_uuid, data_source_uuid: uuid }
  })

  kernel.reconcile(dataSourceRecords, async (record) => {
    if (!record.deleting) return {}
    const base = await store.collection(knowledgeBaseRecords).get(record.knowledge_base_uuid)
    // Of a base that goes as a whole, the folder goes.
    if (base && !base.deleting) await knowledge.forget(baseOf(base), record.uuid)
    if (record.upload) {
      await rm(uploadFile(kernel, record.upload.stored_object_key), { force: true })
      await store.collection(uploadRecords).remove(record.upload.stored_object_key)
    }
    return { remove: true }
  })
}

/** Kinds of the public API that would need an account elsewhere. */
const elsewhere = ['spaces', 'aws', 'web_crawler', 'dropbox', 'google_drive'].map(
  (kind) => `${kind}_data_source`,
)

/** A source that can be read, as it is to be kept. */
export const checkedSource = async (
  kernel: Kernel,
  token: Token,
  base: string,
  source: NewDataSource,
): Promise<DataSourceRecord> => {
  const { file_upload_data_source: upload, local_folder_data_source: folder } = source
  const other = elsewhere.find((kind) => source[kind])
  if (other)
    throw ApiError.notServed(
      `This Cove does not read ${other}: use file_upload_data_source or local_folder_data_source.`,
    )
  if (!upload === !folder)
    throw ApiError.invalid(
      'A data source must have one of file_upload_data_source and local_folder_data_source.',
    )
  if (upload) await kernel.store.collection(uploadRecords).require(upload.stored_object_key)
  if (folder) {
    if (!token.scopes.includes('*'))
      throw ApiError.forbidden("Only the owner's token may add a folder of this machine.")
    if (!isAbsolute(folder.path))
      throw ApiError.invalid('local_folder_data_source.path must be an absolute path.')
    await listFiles(folder.path)
  }
  const now = timestamp(kernel.clock)
  return {
    uuid: kernel.ids.uuid(),
    knowledge_base_uuid: base,
    ...(upload && { upload }),
    ...(folder && { folder }),
    chunking_algorithm: 'CHUNKING_ALGORITHM_SECTION_BASED',
    ...checkedChunking(source),
    metadata: source.metadata ?? {},
    created_at: now,
    updated_at: now,
    deleting: false,
  }
}

type ChunkingFields = Pick<DataSourceRecord, 'chunking_options'> & {
  chunking_algorithm?: DataSourceRecord['chunking_algorithm'] | undefined
}

const checkedChunking = ({
  chunking_algorithm: algorithm,
  chunking_options: options,
}: ChunkingFields) => {
  if (
    algorithm === 'CHUNKING_ALGORITHM_SEMANTIC' ||
    algorithm === 'CHUNKING_ALGORITHM_HIERARCHICAL'
  )
    throw ApiError.notServed(
      `This Cove does not serve ${algorithm}: use CHUNKING_ALGORITHM_SECTION_BASED or CHUNKING_ALGORITHM_FIXED_LENGTH.`,
    )
  const size = options?.max_chunk_size
  const { least, most } = chunkSizes
  if (size !== undefined && (size < least || size > most))
    throw ApiError.invalid(
      `chunking_options.max_chunk_size must be from ${least} to ${most} tokens: the model reads no more.`,
    )
  return {
    ...(algorithm &&
      algorithm !== 'CHUNKING_ALGORITHM_UNKNOWN' && { chunking_algorithm: algorithm }),
    ...(size !== undefined && { chunking_options: { max_chunk_size: size } }),
  }
}

const asDataSource = (record: DataSourceRecord) => ({
  uuid: record.uuid,
  chunking_algorithm: record.chunking_algorithm,
  ...(record.chunking_options && { chunking_options: record.chunking_options }),
  ...(record.upload && { file_upload_data_source: record.upload }),
  ...(record.folder && { local_folder_data_source: record.folder }),
  metadata: record.metadata,
  created_at: record.created_at,
  updated_at: record.updated_at,
  ...(record.last_job && { last_datasource_indexing_job: record.last_job }),
})
