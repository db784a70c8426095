import { type Handler, RpcError } from '#mcp/protocol.ts'
import { png } from './content.ts'

const files: Record<string, { name: string; mimeType: string; text?: string; blob?: string }> = {
  'test://static-text': {
    name: 'A text',
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  },
  'test://static-binary': { name: 'An image', mimeType: 'image/png', blob: png },
  'test://watched-resource': { name: 'A watched text', mimeType: 'text/plain', text: 'Watched.' },
}

const read = (uri: string) => {
  const { name, ...content } = files[uri] ?? {}
  if (name) return { uri, ...content }
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id)
    return { uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }
  throw new RpcError('invalidParams', 'There is no such resource.', { uri })
}

export const resourceMethods: Record<string, Handler> = {
  'resources/list': () => ({
    resources: Object.entries(files).map(([uri, { name, mimeType }]) => ({ uri, name, mimeType })),
  }),
  'resources/templates/list': () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'A template' }],
  }),
  'resources/read': ({ uri }) => ({ contents: [read(String(uri))] }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
}
