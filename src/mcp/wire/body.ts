/** The whole body as text; undefined as soon as it is longer than `limit` bytes. */
export const readBody = async (request: Request, limit: number): Promise<string | undefined> => {
  const length = request.headers.get('content-length')
  // HTTP ends the body at the announced length, so an honest small number needs no counting.
  if (length !== null) return Number(length) <= limit ? request.text() : undefined
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
