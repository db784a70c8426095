import { type Parser, Unreadable } from './document.ts'
import { htmlDocument } from './html.ts'

/** Compound files, the form of encrypted documents and of the format before DOCX, begin so. */
const compound = [0xd0, 0xcf, 0x11, 0xe0]

export const parseDocx: Parser = async (bytes) => {
  if (compound.every((byte, at) => bytes[at] === byte))
    throw new Unreadable('is encrypted, or in the old DOC format')
  const { default: mammoth } = await import('mammoth')
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { value } = await mammoth.convertToHtml({ buffer }, { styleMap }).catch((cause: Error) => {
    throw new Unreadable(`is not a readable DOCX (${cause.message})`, { cause })
  })
  return htmlDocument(value)
}

const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"]
