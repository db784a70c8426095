import { metadataOf, type Parser, Unreadable } from './document.ts'
import { paragraphs } from './text.ts'

export const parsePdf: Parser = async (bytes) => {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf')
  const pdf = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 }).catch(
    (cause: Error) => {
      throw new Unreadable(
        cause.name === 'PasswordException'
          ? 'is encrypted'
          : `is not a readable PDF (${cause.message})`,
        { cause },
      )
    },
  )
  const { text } = await extractText(pdf, { mergePages: false })
  const blocks = text.flatMap((page, at) =>
    paragraphs(page).map((part) => ({ text: part, headings: [], page: at + 1 })),
  )
  if (blocks.length === 0)
    throw new Unreadable('holds no text (pages that are pictures are not read)')
  const { info } = await getMeta(pdf)
  const { Title, Author } = info as { Title?: unknown; Author?: unknown }
  const metadata = metadataOf({ author: Author || undefined, pages: pdf.numPages })
  return {
    ...(typeof Title === 'string' && Title.trim() ? { title: Title.trim() } : {}),
    blocks,
    metadata,
  }
}
