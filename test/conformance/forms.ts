/** Forms that try every kind of field: with defaults, and with every spelling of a choice. */
export const defaults = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'A name', default: 'John Doe' },
    age: { type: 'integer', description: 'An age', default: 30 },
    score: { type: 'number', description: 'A score', default: 95.5 },
    status: {
      type: 'string',
      description: 'A status',
      enum: ['active', 'inactive', 'pending'],
      default: 'active',
    },
    verified: { type: 'boolean', description: 'Whether it was verified', default: true },
  },
  required: [],
}

const plain = ['option1', 'option2', 'option3']
const titled = [
  { const: 'value1', title: 'The first' },
  { const: 'value2', title: 'The second' },
  { const: 'value3', title: 'The third' },
]

export const choices = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: plain },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option one', 'Option two', 'Option three'],
    },
    untitledMulti: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: { type: 'string', enum: plain },
    },
    titledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { anyOf: titled } },
  },
  required: [],
}
