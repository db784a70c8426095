const newline = 10

/**
 * Cuts a stream of bytes into lines of text. A line longer than `limit` bytes is not kept:
 * `tooLong` is called once for it, and reading goes on after its end.
 */
export const lineReader = (
  limit: number,
  onLine: (line: string) => void,
  tooLong: () => void,
): ((chunk: Buffer) => void) => {
  let parts: Buffer[] = []
  let size = 0
  let skipping = false

  const keep = (part: Buffer) => {
    if (skipping || part.length === 0) return
    size += part.length
    if (size <= limit) {
      parts.push(part)
      return
    }
    skipping = true
    parts = []
    tooLong()
  }
  const finish = () => {
    const text = parts.length === 1 ? parts[0]?.toString() : Buffer.concat(parts).toString()
    parts = []
    size = 0
    if (!skipping && text?.trim()) onLine(text)
    skipping = false
  }

  return (chunk) => {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      keep(chunk.subarray(from, end))
      finish()
      from = end + 1
    }
    keep(chunk.subarray(from))
  }
}
