import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '#core/error.ts'

/** Files by key, and addresses that let anyone who has one send or fetch a file for a while. */
export interface Objects {
  /** `size` is what may be sent, to the byte; nothing else is taken. */
  sign(method: 'PUT' | 'GET', key: string, size?: number): SignedAddress
  /** Answers requests to signed addresses. */
  serve(request: Request): Promise<Response>
  read(key: string): AsyncIterable<Uint8Array>
  /** Whole or not at all. */
  write(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /** Bytes, or undefined where there is no such file. */
  size(key: string): Promise<number | undefined>
  remove(key: string): Promise<void>
}

interface SignedAddress {
  url: string
  expires_at: string
}

interface ObjectsOptions {
  folder: string
  now: () => number
  /** Where Cove answers: `http://127.0.0.1:8787`. */
  url: () => string
}

/** The path under which signed addresses lie. */
export const objectsPath = '/objects/'

/** ms that an address holds. */
const lifetime = { PUT: 15 * 60_000, GET: 60 * 60_000 }

export const createObjects = ({ folder, now, url }: ObjectsOptions): Objects => {
  const secret = keptSecret(join(folder, 'secret'))
  const pathOf = (key: string) => {
    if (!/^[\w-]+(\/[\w.-]+)*$/.test(key) || key.includes('..')) {
      throw ApiError.invalid(`${key} is not the key of an object.`)
    }
    return join(folder, 'files', key)
  }
  const signature = (method: string, key: string, expires: number, size: string) =>
    createHmac('sha256', secret).update([method, key, expires, size].join('\n')).digest('hex')

  const allowed = (request: Request) => {
    const { pathname, searchParams } = new URL(request.url)
    const key = pathname.slice(objectsPath.length)
    const expires = Number(searchParams.get('expires'))
    const size = searchParams.get('size') ?? ''
    const given = Buffer.from(searchParams.get('signature') ?? '')
    const right = Buffer.from(signature(request.method, key, expires, size))
    if (given.length !== right.length || !timingSafeEqual(given, right)) {
      throw ApiError.forbidden(`This address does not allow ${request.method}, or was changed.`)
    }
    if (now() > expires) throw ApiError.forbidden('This address has expired; ask for a new one.')
    return { key, size: Number(size) }
  }

  const write = async (key: string, bytes: AsyncIterable<Uint8Array>, size?: number) => {
    const path = pathOf(key)
    const part = `${path}.${randomBytes(6).toString('hex')}.part`
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    try {
      const counted = size === undefined ? bytes : exactly(bytes, size)
      await pipeline(counted, createWriteStream(part, { mode: 0o600 }))
      await rename(part, path)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  const download = async (key: string) => {
    const path = pathOf(key)
    const size = await sizeOf(path)
    if (size === undefined) throw ApiError.notFound('The file behind this address')
    const name = key.split('/').at(-1)
    return new Response(Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>, {
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(size),
        'content-disposition': `attachment; filename="${name}"`,
      },
    })
  }

  return {
    sign: (method, key, size) => {
      const expires = now() + lifetime[method]
      const query = new URLSearchParams({
        expires: String(expires),
        ...(size !== undefined && { size: String(size) }),
        signature: signature(method, key, expires, size === undefined ? '' : String(size)),
      })
      return {
        url: `${url()}${objectsPath}${key}?${query}`,
        expires_at: new Date(expires).toISOString(),
      }
    },
    serve: async (request) => {
      const { key, size } = allowed(request)
      if (request.method === 'GET') return download(key)
      await write(key, request.body ?? none(), size)
      return new Response(null, { status: 200 })
    },
    read: (key) => createReadStream(pathOf(key), { highWaterMark: 256 * 1024 }),
    write: (key, bytes) => write(key, bytes),
    size: (key) => sizeOf(pathOf(key)),
    remove: async (key) => rm(pathOf(key), { force: true }),
  }
}

/** Made once, so that addresses hold over a restart. */
const keptSecret = (path: string): Buffer => {
  if (!existsSync(path)) {
    try {
      writeFileSync(path, randomBytes(32), { mode: 0o600, flag: 'wx' })
    } catch (error) {
      if (!existsSync(path)) throw error // Otherwise another process was first.
    }
  }
  return readFileSync(path)
}

const sizeOf = async (path: string): Promise<number | undefined> => {
  const facts = await stat(path).catch(() => undefined) // No file has no size.
  return facts?.isFile() ? facts.size : undefined
}

async function* exactly(bytes: AsyncIterable<Uint8Array>, size: number) {
  let seen = 0
  for await (const piece of bytes) {
    seen += piece.byteLength
    if (seen > size) throw new ApiError(413, `The file is larger than the ${size} bytes announced.`)
    yield piece
  }
  if (seen < size) throw ApiError.badRequest(`The file has ${seen} of the ${size} bytes announced.`)
}

async function* none(): AsyncGenerator<Uint8Array> {}
