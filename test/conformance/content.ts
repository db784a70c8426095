/** The smallest files that are what they claim to be. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M/wHwAEBgIApD5fRAAAAABJRU5ErkJggg=='
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

export const text = (value: string) => ({ type: 'text', text: value })
export const image = { type: 'image', data: png, mimeType: 'image/png' }
export const audio = { type: 'audio', data: wav, mimeType: 'audio/wav' }
export const embedded = (uri: string, mimeType: string, value: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: value },
})

/** The form with one required field, which most scenarios fill in. */
export const form = (name: string, type = 'string') => ({
  type: 'object',
  properties: { [name]: { type } },
  required: [name],
})
