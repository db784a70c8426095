/** Writes the few messages of the ONNX format that a model needs, as Protocol Buffers. */

type Field = [number: number, value: number | string | Uint8Array]

const message = (fields: readonly Field[]): Uint8Array =>
  Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [varint(number << 3), varint(value)]
      const bytes = typeof value === 'string' ? Buffer.from(value) : value
      return [varint((number << 3) | 2), varint(bytes.length), bytes]
    }),
  )

const varint = (value: number): Uint8Array => {
  const bytes: number[] = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest % 128) | 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

const float = (value: number): Uint8Array => new Uint8Array(new Float32Array([value]).buffer)

const types = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7 } as const

export interface Tensor {
  type: keyof typeof types
  shape: readonly number[]
  data: Float32Array | Int8Array | Uint8Array | BigInt64Array
}

export interface Node {
  operator: string
  /** Defaults to the standard operators. */
  domain?: string
  inputs: readonly string[]
  outputs: readonly string[]
  /** A whole number, unless given as `{ float }` or `{ ints }`. */
  attributes?: Record<string, number | { float: number } | { ints: readonly number[] }>
}

export interface Port {
  name: string
  type: keyof typeof types
  /** A text names a length that only the input decides. */
  shape: readonly (number | string)[]
}

export interface Graph {
  nodes: readonly Node[]
  constants: Readonly<Record<string, Tensor>>
  inputs: readonly Port[]
  outputs: readonly Port[]
}

const attribute = (name: string, value: NonNullable<Node['attributes']>[string]): Uint8Array => {
  if (typeof value === 'number')
    return message([
      [1, name],
      [3, value],
      [20, 2],
    ])
  if ('ints' in value)
    return message([[1, name], ...value.ints.map((int): Field => [8, int]), [20, 7]])
  // Field 2 is a fixed 32-bit number (wire type 5), which `message` has no other need of.
  const header = message([
    [1, name],
    [20, 1],
  ])
  return Buffer.concat([header, varint((2 << 3) | 5), float(value.float)])
}

const node = ({ operator, domain, inputs, outputs, attributes = {} }: Node): Uint8Array =>
  message([
    ...inputs.map((name): Field => [1, name]),
    ...outputs.map((name): Field => [2, name]),
    [4, operator],
    ...Object.entries(attributes).map(([name, value]): Field => [5, attribute(name, value)]),
    ...(domain ? ([[7, domain]] satisfies Field[]) : []),
  ])

const tensor = (name: string, { type, shape, data }: Tensor): Uint8Array =>
  message([
    ...shape.map((length): Field => [1, length]),
    [2, types[type]],
    [8, name],
    [9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)],
  ])

const port = ({ name, type, shape }: Port): Uint8Array => {
  const dimensions = message(
    shape.map((length): Field => [1, message([[typeof length === 'number' ? 1 : 2, length]])]),
  )
  return message([
    [1, name],
    [
      2,
      message([
        [
          1,
          message([
            [1, types[type]],
            [2, dimensions],
          ]),
        ],
      ]),
    ],
  ])
}

/** The bytes of a model file. */
export const writeOnnx = (graph: Graph): Uint8Array =>
  message([
    [1, 8],
    [
      7,
      message([
        ...graph.nodes.map((part): Field => [1, node(part)]),
        [2, 'graph'],
        ...Object.entries(graph.constants).map(([name, value]): Field => [5, tensor(name, value)]),
        ...graph.inputs.map((part): Field => [11, port(part)]),
        ...graph.outputs.map((part): Field => [12, port(part)]),
      ]),
    ],
    [
      8,
      message([
        [1, ''],
        [2, 17],
      ]),
    ],
    [
      8,
      message([
        [1, 'com.microsoft'],
        [2, 1],
      ]),
    ],
  ])
