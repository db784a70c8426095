/** Longest event of a stream that is still believed to be one. */
const longestEvent = 4 * 1024 * 1024

/** Cuts a byte stream into server-sent events, each with the empty line that ends it. */
export const createEvents = () => {
  let rest: Buffer = Buffer.alloc(0)
  return {
    /** The events that `chunk` completes. */
    push: (chunk: Buffer): Buffer[] => {
      let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const events: Buffer[] = []
      for (let end = endOfEvent(bytes); end > 0; end = endOfEvent(bytes)) {
        events.push(bytes.subarray(0, end))
        bytes = bytes.subarray(end)
      }
      if (bytes.length > longestEvent) throw new Error('an event of the stream has no end')
      rest = bytes
      return events
    },
    /** What came after the last whole event. */
    rest: () => rest,
  }
}

/** The index after the first empty line, or 0. Lines end in \n, \r\n or \r, as servers like it. */
const endOfEvent = (bytes: Buffer): number => {
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at + 1] === 10) return at + 2
    if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return at + 3
  }
  return 0
}

/** The data of an event; empty for comments. */
export const dataOf = (event: Buffer): string => {
  const text = event.toString('utf8')
  if (text.startsWith('data: ') && text.indexOf('\n') >= text.length - 2)
    return text.slice(6).trim()
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n')
}
