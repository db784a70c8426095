import { parse as parseYaml } from 'yaml'
import { type Block, metadataOf, type Parsed, type Parser, textOf, Unreadable } from './document.ts'

export const parseMarkdown: Parser = (bytes) => {
  const { fields, body } = frontMatter(textOf(bytes).replace(/\r\n?/g, '\n'))
  const blocks = markdownBlocks(body)
  const { title, ...metadata } = metadataOf(fields)
  const heading = typeof title === 'string' ? title : firstHeading(blocks)
  return { ...(heading === undefined ? {} : { title: heading }), blocks, metadata }
}

export const firstHeading = (blocks: readonly Block[]): string | undefined =>
  blocks.find(({ headings }) => headings.length > 0)?.headings[0]

/** YAML between two lines of `---` at the very top. */
const frontMatter = (text: string): { fields: Record<string, unknown>; body: string } => {
  const match = /^---[ \t]*\n([\s\S]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(text)
  if (!match) return { fields: {}, body: text }
  let fields: unknown
  try {
    fields = parseYaml(match[1] ?? '')
  } catch (cause) {
    throw new Unreadable('has front matter that is not valid YAML', { cause })
  }
  // Between rules may also stand plain text: then it is no front matter.
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    return { fields: {}, body: text }
  return { fields: fields as Record<string, unknown>, body: text.slice(match[0].length) }
}

const markdownBlocks = (text: string): Parsed['blocks'] => {
  const blocks: Block[] = []
  const headings: string[] = []
  let lines: string[] = []
  let fence: string | undefined
  const finish = () => {
    const content = lines.join('\n').trimEnd()
    if (content.trim()) blocks.push({ text: content, headings: headings.filter(Boolean) })
    lines = []
  }
  const enter = (level: number, heading: string) => {
    finish()
    headings.length = level - 1
    headings[level - 1] = plain(heading)
    for (let above = 0; above < level; above++) headings[above] ??= ''
  }
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence) {
      lines.push(line)
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
      continue
    }
    const atx = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/.exec(line)
    const underline = lines.length === 1 && /^ {0,3}(=+|-+)[ \t]*$/.exec(line)?.[1]
    if (atx) enter(atx[1]?.length ?? 1, atx[2] ?? '')
    else if (underline) {
      const heading = lines.pop() ?? ''
      enter(underline.startsWith('=') ? 1 : 2, heading)
    } else if (line.trim() === '') finish()
    else {
      fence = mark
      lines.push(line)
    }
  }
  finish()
  return blocks
}

/** A heading without its emphasis, code marks and link targets. */
const plain = (heading: string): string =>
  heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .trim()
