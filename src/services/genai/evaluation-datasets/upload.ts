import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { ApiError, messageOf } from '#core/error.ts'
import type { ToolContext } from '#mcp/tool.ts'
import { checkDataset, type DatasetFacts } from './check.ts'
import { datasets } from './contract.ts'
import { type DatasetUse, datasetFormat } from './rows.ts'

/** A dataset file that was read to its end and found good. */
export interface CheckedFile extends DatasetFacts {
  path: string
  name: string
  size: number
}

/** Reads and checks a file before anything is sent. */
export const checkFile = async (path: string, use: DatasetUse): Promise<CheckedFile> => {
  const name = basename(path)
  datasetFormat(name, use)
  const size = await sizeOf(path)
  if (size === 0) throw ApiError.invalid(`${path} is empty.`)
  const facts = await checkDataset(createReadStream(path), name, use)
  return { path, name, size, ...facts }
}

const sizeOf = async (path: string): Promise<number> => {
  const unreadable = (cause: string) => ApiError.invalid(`${path} cannot be read: ${cause}.`)
  const facts = await stat(path).catch((error) => {
    throw unreadable(error.code === 'ENOENT' ? 'there is no such file' : messageOf(error))
  })
  if (!facts.isFile()) throw unreadable('it is not a file')
  return facts.size
}

const presign = { agent: datasets.presign, model: datasets.presignForModels }

/** v2 operations of an upload. */
export const uploadOperations = [datasets.presign, datasets.presignForModels, datasets.create]

/** Presign, send the bytes, register. The dataset exists only after the last of them. */
export const uploadDataset = async (
  { api, fetch, signal }: ToolContext,
  file: CheckedFile,
  dataset: { name: string; use: DatasetUse },
): Promise<{ dataset_uuid: string; object_key: string }> => {
  const { uploads } = await api(presign[dataset.use], {
    body: { files: [{ file_name: file.name, file_size: String(file.size) }] },
  })
  const [upload] = uploads
  if (!upload) throw new ApiError(502, 'The cloud gave no address to send the file to.')
  await send(fetch, upload.presigned_url, file, signal)
  const { evaluation_dataset_uuid } = await api(datasets.create, {
    body: {
      name: dataset.name,
      ...(dataset.use === 'model' && { dataset_type: 'EVALUATION_DATASET_TYPE_MODEL' as const }),
      file_upload_dataset: {
        original_file_name: file.name,
        stored_object_key: upload.object_key,
        size_in_bytes: String(file.size),
      },
    },
  })
  return { dataset_uuid: evaluation_dataset_uuid, object_key: upload.object_key }
}

/** The address carries its own permission: the token stays here. */
const send = async (
  fetch: ToolContext['fetch'],
  address: string,
  file: CheckedFile,
  signal: AbortSignal,
) => {
  const response = await fetch(
    new Request(address, {
      method: 'PUT',
      headers: { 'content-length': String(file.size) },
      body: Readable.toWeb(createReadStream(file.path)) as ReadableStream<Uint8Array>,
      duplex: 'half',
      signal,
    }),
  )
  if (response.ok) return void (await response.arrayBuffer())
  const said = (await response.text()).slice(0, 300)
  throw new ApiError(response.status, `The upload of ${file.name} was refused: ${said}`)
}

/** A dataset that nothing refers to is not left behind. */
export const undoUpload = async (
  { api, note }: ToolContext,
  dataset_uuid: string,
  error: unknown,
  undone: () => void,
): Promise<never> => {
  await api(datasets.delete, { path: { dataset_uuid } }).then(undone, () =>
    note(`Dataset ${dataset_uuid} was uploaded and could not be removed again.`),
  )
  throw error
}
