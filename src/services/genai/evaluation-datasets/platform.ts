import { ApiError } from '#core/error.ts'
import type { Objects } from '#engines/objects/objects.ts'
import { timestamp } from '#platform/clock.ts'
import type { Service } from '#platform/service.ts'
import { isFinal, runRecords } from '../evaluation-runs/record.ts'
import { checkDataset } from './check.ts'
import {
  type Dataset,
  type DatasetType,
  datasets,
  type StoredDataset,
  storedDatasets,
} from './contract.ts'

/** Bytes of one file. */
const largestFile = 5 * 1024 ** 3

export const datasetService =
  (objects: Objects): Service =>
  (on, { store, ids, clock }) => {
    const table = store.collection(storedDatasets)

    const presigned = (files: readonly { file_name: string; file_size: string }[]) => ({
      request_id: ids.uuid(),
      uploads: files.map(({ file_name, file_size }) => {
        const size = Number(file_size)
        if (size === 0 || size > largestFile) {
          throw ApiError.invalid(
            `file_size of ${file_name} must be from 1 to ${largestFile} bytes.`,
          )
        }
        const object_key = `datasets/${ids.uuid()}/${safeName(file_name)}`
        const { url, expires_at } = objects.sign('PUT', object_key, size)
        return { object_key, original_file_name: file_name, presigned_url: url, expires_at }
      }),
    })
    on(datasets.presign, ({ body }) => presigned(body.files))
    on(datasets.presignForModels, ({ body }) => presigned(body.files))

    on(datasets.list, async ({ query: { dataset_type } }) => ({
      evaluation_datasets: (
        await table.list({ newestFirst: true, ...(dataset_type && { where: { dataset_type } }) })
      ).map(shown),
    }))

    on(datasets.create, async ({ body }) => {
      const { original_file_name, stored_object_key, size_in_bytes } = body.file_upload_dataset
      const size = await objects.size(stored_object_key)
      if (size === undefined) {
        throw ApiError.invalid(`stored_object_key ${stored_object_key} was not uploaded.`)
      }
      if (size_in_bytes !== undefined && Number(size_in_bytes) !== size) {
        throw ApiError.invalid(`size_in_bytes is ${size_in_bytes}, but the file has ${size} bytes.`)
      }
      if (await table.find({ object_key: stored_object_key })) {
        throw ApiError.conflict(`stored_object_key ${stored_object_key} is a dataset already.`)
      }
      const dataset_type = body.dataset_type ?? 'EVALUATION_DATASET_TYPE_UNKNOWN'
      const facts = await checkDataset(
        objects.read(stored_object_key),
        original_file_name,
        useOf(dataset_type),
      )
      const dataset_uuid = ids.uuid()
      await table.insert({
        dataset_uuid,
        dataset_name: body.name,
        dataset_type,
        file_size: String(size),
        row_count: facts.rows,
        has_ground_truth: facts.has_ground_truth,
        created_at: timestamp(clock),
        object_key: stored_object_key,
        file_name: original_file_name,
      })
      return { evaluation_dataset_uuid: dataset_uuid }
    })

    on(datasets.downloadUrl, async ({ path }) => {
      const { object_key } = await table.require(path.dataset_uuid)
      const { url, expires_at } = objects.sign('GET', object_key)
      return { download_url: url, expires_at }
    })

    on(datasets.delete, async ({ path }) => {
      const { dataset_uuid, object_key } = await table.require(path.dataset_uuid)
      const runs = await store.collection(runRecords).list({ where: { dataset_uuid } })
      const busy = runs.find(({ status }) => !isFinal(status))
      if (busy) {
        throw ApiError.conflict(
          `The run "${busy.name}" is still reading this dataset; cancel it or wait for its end.`,
        )
      }
      await table.remove(dataset_uuid)
      await objects.remove(object_key)
      return {}
    })
  }

/** Agents are asked by the column `query`, models by `input`. */
export const useOf = (type: DatasetType) =>
  type === 'EVALUATION_DATASET_TYPE_MODEL' ? ('model' as const) : ('agent' as const)

const safeName = (name: string): string => name.replace(/[^\w.-]+/g, '_').replace(/\.{2,}/g, '.')

const shown = ({ object_key: _key, file_name: _name, ...dataset }: StoredDataset): Dataset =>
  dataset
