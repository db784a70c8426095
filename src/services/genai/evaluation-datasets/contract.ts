import { z } from 'zod'
import { collection } from '#core/collection.ts'
import { resource } from '#core/operation.ts'
import { DecimalText, Timestamp } from '#core/schema.ts'

const { get, post, del } = resource('genai')

export const datasetTypes = [
  'EVALUATION_DATASET_TYPE_MODEL',
  'EVALUATION_DATASET_TYPE_UNKNOWN',
  'EVALUATION_DATASET_TYPE_ADK',
  'EVALUATION_DATASET_TYPE_NON_ADK',
] as const
export type DatasetType = (typeof datasetTypes)[number]

export const Dataset = z.object({
  dataset_uuid: z.string(),
  dataset_name: z.string(),
  dataset_type: z.enum(datasetTypes),
  /** Decimal text, as 64-bit numbers of this API are. */
  file_size: z.string(),
  row_count: z.number().int(),
  has_ground_truth: z.boolean(),
  created_at: Timestamp,
})
export type Dataset = z.infer<typeof Dataset>

const NewUploads = z.object({
  files: z
    .array(z.object({ file_name: z.string().min(1).max(255), file_size: DecimalText }))
    .min(1)
    .max(10),
})

const Uploads = z.object({
  request_id: z.string(),
  uploads: z.array(
    z.object({
      object_key: z.string(),
      original_file_name: z.string(),
      presigned_url: z.string(),
      expires_at: Timestamp,
    }),
  ),
})

export const SignedUrl = z.object({ download_url: z.string(), expires_at: Timestamp })

/** Files are sent to a presigned address first, then registered as a dataset. */
export const datasets = {
  list: get('/v2/gen-ai/evaluation_datasets', {
    query: z.object({ dataset_type: z.enum(datasetTypes).optional() }),
    returns: z.object({ evaluation_datasets: z.array(Dataset) }),
  }),
  presign: post('/v2/gen-ai/evaluation_datasets/file_upload_presigned_urls', {
    body: NewUploads,
    returns: Uploads,
    status: 200,
  }),
  presignForModels: post('/v2/gen-ai/model_evaluation/datasets/file_upload_presigned_urls', {
    body: NewUploads,
    returns: Uploads,
    status: 200,
  }),
  create: post('/v2/gen-ai/evaluation_datasets', {
    body: z.object({
      name: z.string().trim().min(1).max(255),
      dataset_type: z.enum(datasetTypes).optional(),
      file_upload_dataset: z.object({
        original_file_name: z.string().min(1).max(255),
        stored_object_key: z.string().min(1),
        size_in_bytes: DecimalText.optional(),
      }),
    }),
    returns: z.object({ evaluation_dataset_uuid: z.string() }),
    status: 200,
  }),
  downloadUrl: get('/v2/gen-ai/evaluation_datasets/:dataset_uuid/download_url', {
    returns: SignedUrl,
  }),
  delete: del('/v2/gen-ai/evaluation_datasets/:dataset_uuid', { returns: z.object({}) }),
}

/** A dataset as it is kept: what the API shows, and where its file is. */
export interface StoredDataset extends Dataset {
  object_key: string
  file_name: string
}

export const storedDatasets = collection<StoredDataset>('evaluation_datasets', {
  called: 'Evaluation dataset',
  key: 'dataset_uuid',
  indexes: ['dataset_type', 'object_key'],
})
