import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { GenaiPage, genaiListOf, one } from '#core/page.ts'
import { absentWhenEmpty, DecimalText, Timestamp, Uuid } from '#core/schema.ts'
import { IndexedDataSource, IndexingJob } from '../indexing-jobs/shapes.ts'

const { get, post, put, del } = resource('genai')

const base = '/v2/gen-ai/knowledge_bases'

export const Name = z.string().trim().min(1).max(255)
const Tags = z.array(z.string().min(1).max(255)).max(100)

/** The model that comes with Cove. */
export const builtInModel = {
  uuid: '6e1c0d3a-3c55-4c0f-9a53-1d3f7a1b6c2e',
  name: 'all-MiniLM-L6-v2',
} as const

/** An addition of ours: an OpenAI-compatible server that embeds instead of the built-in model. */
const EmbeddingEndpoint = z.object({
  base_url: z.url({ protocol: /^https?$/ }),
  model: z.string().min(1).max(255),
  /** Name of an environment variable of the server that holds the key. */
  api_key_env: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/)
    .optional(),
})
export type EmbeddingEndpoint = z.output<typeof EmbeddingEndpoint>

const algorithms = [
  'CHUNKING_ALGORITHM_UNKNOWN',
  'CHUNKING_ALGORITHM_SECTION_BASED',
  'CHUNKING_ALGORITHM_HIERARCHICAL',
  'CHUNKING_ALGORITHM_SEMANTIC',
  'CHUNKING_ALGORITHM_FIXED_LENGTH',
] as const

const chunking = {
  chunking_algorithm: z.enum(algorithms).optional(),
  chunking_options: z.looseObject({ max_chunk_size: z.number().int().optional() }).optional(),
}

const FileUpload = z.object({
  original_file_name: z.string().min(1).max(1024),
  size_in_bytes: DecimalText.optional(),
  stored_object_key: z.string().min(1).max(1024),
})

/** An addition of ours: a folder, or a file, of the machine that Cove runs on. */
const LocalFolder = z.object({ path: z.string().min(1).max(4096) })

const MetadataValue = z.union([z.string(), z.number(), z.array(z.union([z.string(), z.number()]))])
/** An addition of ours: fields that every chunk of the source gets. */
const Metadata = z.record(z.string().min(1).max(255), MetadataValue)

const NewDataSource = z.looseObject({
  ...chunking,
  file_upload_data_source: FileUpload.optional(),
  local_folder_data_source: LocalFolder.optional(),
  metadata: Metadata.optional(),
})
export type NewDataSource = z.output<typeof NewDataSource>

const DataSource = z.object({
  uuid: Uuid,
  ...chunking,
  file_upload_data_source: FileUpload.optional(),
  local_folder_data_source: LocalFolder.optional(),
  metadata: Metadata.optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_datasource_indexing_job: IndexedDataSource.optional(),
})

const KnowledgeBase = z.object({
  uuid: Uuid,
  name: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  region: z.string(),
  project_id: z.string(),
  database_id: z.string(),
  tags: z.array(z.string()),
  user_id: z.string(),
  is_public: z.boolean(),
  embedding_model_uuid: z.string(),
  embedding_endpoint: EmbeddingEndpoint.optional(),
  last_indexing_job: IndexingJob.optional(),
})

const Upload = z.object({
  object_key: z.string(),
  original_file_name: z.string(),
  presigned_url: z.string(),
  expires_at: Timestamp,
})

export const knowledgeBases = {
  list: get(base, { query: GenaiPage, returns: genaiListOf('knowledge_bases', KnowledgeBase) }),
  create: post(base, {
    body: z.looseObject({
      name: Name,
      datasources: z.array(NewDataSource).max(100).default([]),
      embedding_model_uuid: absentWhenEmpty(z.string()),
      embedding_endpoint: EmbeddingEndpoint.optional(),
      region: absentWhenEmpty(z.string()),
      project_id: absentWhenEmpty(z.string()),
      tags: Tags.default([]),
    }),
    status: 200,
    returns: one('knowledge_base', KnowledgeBase),
  }),
  get: get(`${base}/:uuid`, {
    returns: z.object({ knowledge_base: KnowledgeBase, database_status: z.string() }),
  }),
  update: put(`${base}/:uuid`, {
    body: z.looseObject({
      name: absentWhenEmpty(Name),
      project_id: absentWhenEmpty(z.string()),
      tags: Tags.optional(),
      embedding_endpoint: EmbeddingEndpoint.nullable().optional(),
    }),
    returns: one('knowledge_base', KnowledgeBase),
  }),
  delete: del(`${base}/:uuid`, { returns: z.object({ uuid: Uuid }), status: 200 }),
}

export const dataSources = {
  list: get(`${base}/:knowledge_base_uuid/data_sources`, {
    query: GenaiPage,
    returns: genaiListOf('knowledge_base_data_sources', DataSource),
  }),
  create: post(`${base}/:knowledge_base_uuid/data_sources`, {
    body: NewDataSource,
    status: 200,
    returns: one('knowledge_base_data_source', DataSource),
  }),
  update: put(`${base}/:knowledge_base_uuid/data_sources/:data_source_uuid`, {
    body: z.looseObject(chunking),
    returns: one('knowledge_base_data_source', DataSource),
  }),
  delete: del(`${base}/:knowledge_base_uuid/data_sources/:data_source_uuid`, {
    status: 200,
    returns: z.object({ knowledge_base_uuid: Uuid, data_source_uuid: Uuid }),
  }),
  upload: post(`${base}/data_sources/file_upload_presigned_urls`, {
    body: z.looseObject({
      files: z
        .array(z.looseObject({ file_name: z.string().min(1).max(1024), file_size: DecimalText }))
        .min(1)
        .max(100),
    }),
    status: 200,
    returns: z.object({ request_id: z.string(), uploads: z.array(Upload) }),
  }),
}

export interface KnowledgeBaseRecord {
  uuid: string
  name: string
  created_at: string
  updated_at: string
  region: string
  project_id: string
  tags: string[]
  endpoint?: EmbeddingEndpoint
  /** Everything of it is being removed. */
  deleting: boolean
}

/** What the engine needs to know of a base. */
export const baseOf = ({ uuid, endpoint }: KnowledgeBaseRecord) => ({
  uuid,
  ...(endpoint && {
    endpoint: {
      baseUrl: endpoint.base_url,
      model: endpoint.model,
      ...(endpoint.api_key_env && { keyName: endpoint.api_key_env }),
    },
  }),
})

export const knowledgeBaseRecords = collection<KnowledgeBaseRecord>('knowledge_bases', {
  called: 'Knowledge base',
  key: 'uuid',
  indexes: ['name', 'deleting'],
  reconciled: true,
})

export interface DataSourceRecord {
  uuid: string
  knowledge_base_uuid: string
  upload?: z.output<typeof FileUpload>
  folder?: z.output<typeof LocalFolder>
  chunking_algorithm: (typeof algorithms)[number]
  chunking_options?: { max_chunk_size?: number | undefined }
  metadata: z.output<typeof Metadata>
  created_at: string
  updated_at: string
  last_job?: IndexedDataSource
  /** What came from it is being removed. */
  deleting: boolean
}

export const dataSourceRecords = collection<DataSourceRecord>('knowledge_data_sources', {
  called: 'Data source',
  key: 'uuid',
  indexes: ['knowledge_base_uuid', 'deleting'],
  reconciled: true,
})

/** A place for a file to be uploaded to. */
export interface UploadRecord {
  /** Unguessable: who knows it may write. */
  key: string
  name: string
  bytes: number
  expires_at: string
}

export const uploadRecords = collection<UploadRecord>('knowledge_uploads', {
  called: 'Upload',
  key: 'key',
})
