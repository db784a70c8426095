import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { ApiError, messageOf } from '#core/error.ts'
import { mostBytes } from '#knowledge/parse/kinds.ts'
import type { Kernel, On } from '#platform/service.ts'
import { dataSources, type UploadRecord, uploadRecords } from './contract.ts'

const route = '/uploads/knowledge'
const lifetime = 3_600_000

/** Where an uploaded file lies. Keys are ours, so no key leads out of the folder. */
export const uploadFile = (kernel: Kernel, key: string): string =>
  join(kernel.folder('knowledge'), 'uploads', key)

export const serveUploads = (on: On, kernel: Kernel) => {
  const { store, clock, ids } = kernel
  const table = store.collection(uploadRecords)

  on(dataSources.upload, async ({ body, origin }) => {
    const uploads = []
    for (const { file_name, file_size } of body.files) {
      const bytes = Number(file_size)
      if (bytes > mostBytes)
        throw ApiError.invalid(`${file_name} must have at most ${mostBytes} bytes.`)
      const record: UploadRecord = {
        key: ids.secret(24),
        name: file_name,
        bytes,
        expires_at: new Date(clock.now() + lifetime).toISOString(),
      }
      await table.insert(record)
      uploads.push({
        object_key: record.key,
        original_file_name: file_name,
        presigned_url: `${origin}${route}/${record.key}`,
        expires_at: record.expires_at,
      })
    }
    return { request_id: ids.uuid(), uploads }
  })

  const receive = async (request: Request): Promise<void> => {
    const key = new URL(request.url).pathname.slice(route.length + 1)
    const record = await table.get(key)
    if (!record || Date.parse(record.expires_at) <= clock.now())
      throw new ApiError(403, 'This upload address is unknown or has expired.')
    const file = uploadFile(kernel, key)
    await mkdir(join(file, '..'), { recursive: true })
    const draft = `${file}.part`
    let bytes = 0
    const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        bytes += chunk.length
        if (bytes > record.bytes)
          throw new ApiError(413, `The file is longer than the ${record.bytes} bytes announced.`)
        yield chunk
      }
    }
    try {
      const body = request.body
        ? Readable.fromWeb(request.body as ReadableStream)
        : Readable.from([])
      await pipeline(body, counted, createWriteStream(draft))
      if (bytes < record.bytes)
        throw new ApiError(400, `The file has ${bytes} of the ${record.bytes} bytes announced.`)
      await rename(draft, file)
    } finally {
      await rm(draft, { force: true })
    }
  }

  kernel.route(`${route}/*`, async (request) => {
    if (request.method !== 'PUT')
      return Response.json(
        { id: 'method_not_allowed', message: 'Files are sent with PUT.' },
        { status: 405, headers: { allow: 'PUT' } },
      )
    try {
      await receive(request)
      return new Response(null, { status: 200 })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return Response.json({ id: error.id, message: messageOf(error) }, { status: error.status })
    }
  })
}
