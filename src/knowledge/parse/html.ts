import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { type Block, metadataOf, type Parsed, type Parser, textOf } from './document.ts'
import { firstHeading } from './markdown.ts'

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

const left = new Set(
  'script style template noscript svg math iframe object canvas nav button select'.split(' '),
)
const blockLevel = new Set(
  `address article aside blockquote body br caption dd details div dl dt fieldset figcaption figure
  footer h1 h2 h3 h4 h5 h6 header hgroup hr li main ol p pre section summary table td th tr ul`.split(
    /\s+/,
  ),
)
/** These end a block; the others only end a line of it. */
const blockEnds = new Set(
  'p pre table ul ol dl blockquote section article div main aside figure'.split(' '),
)

export const parseHtml: Parser = (bytes) => htmlDocument(textOf(bytes))

export const htmlDocument = (source: string): Parsed => {
  const blocks: Block[] = []
  const headings: string[] = []
  const fields: Record<string, unknown> = {}
  let title: string | undefined
  let text = ''

  const finish = () => {
    const content = text.replace(/[ \t]*\n[ \t]*(?:\n[ \t]*)*/g, '\n').trim()
    if (content) blocks.push({ text: content, headings: headings.filter(Boolean) })
    text = ''
  }
  const walk = (node: Node) => {
    if (node.nodeName === '#text' && 'value' in node) {
      text += node.value.replace(/\s+/g, ' ')
      return
    }
    if (!('tagName' in node) || left.has(node.tagName)) return
    const level = /^h([1-6])$/.exec(node.tagName)?.[1]
    if (level) enter(Number(level), node)
    else if (node.tagName === 'title') title ??= innerText(node) || undefined
    else if (node.tagName === 'meta') readMeta(node)
    else if (node.tagName === 'pre') keep(node)
    else if (node.tagName === 'tr') text += `${cellsOf(node).join(' | ')}\n`
    else {
      const end = blockEnds.has(node.tagName)
        ? finish
        : () => {
            if (blockLevel.has(node.tagName)) text += '\n'
          }
      end()
      for (const child of node.childNodes) walk(child)
      end()
    }
  }
  /** Where white space means something. */
  const keep = (node: Element) => {
    finish()
    const content = textIn(node).replace(/^\n|\s+$/g, '')
    if (content) blocks.push({ text: content, headings: headings.filter(Boolean) })
  }
  const enter = (level: number, node: Element) => {
    finish()
    headings.length = level - 1
    headings[level - 1] = innerText(node)
    for (let above = 0; above < level; above++) headings[above] ??= ''
  }
  const readMeta = (node: Element) => {
    const value = (name: string) => node.attrs.find((attr) => attr.name === name)?.value
    const name = value('name')?.toLowerCase()
    if (name === 'author' || name === 'description' || name === 'keywords')
      fields[name] = value('content')
  }

  for (const child of parse(source).childNodes) walk(child)
  finish()
  const named = title ?? firstHeading(blocks)
  return { ...(named === undefined ? {} : { title: named }), blocks, metadata: metadataOf(fields) }
}

const textIn = (node: Node): string => {
  if (node.nodeName === '#text' && 'value' in node) return node.value
  if (!('childNodes' in node)) return ''
  const text = node.childNodes.map(textIn).join('')
  return blockLevel.has(node.nodeName) ? `${text}\n` : text
}

const innerText = (node: Node): string => textIn(node).replace(/\s+/g, ' ').trim()

const cellsOf = (row: Element): string[] =>
  row.childNodes.filter(({ nodeName }) => nodeName === 'td' || nodeName === 'th').map(innerText)
