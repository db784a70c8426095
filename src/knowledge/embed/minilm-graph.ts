import type { Graph, Node, Tensor } from './onnx.ts'

/** The shape of all-MiniLM-L6-v2. */
const layers = 6
const heads = 12
export const width = 384
const epsilon = { float: 1e-12 }
const contrib = 'com.microsoft'

/**
 * all-MiniLM-L6-v2 as an ONNX graph: token ids in, one unit vector out. Matrices are kept as 7-bit
 * integers with a scale a column: with 8 bits, processors without VNNI overflow in silence.
 */
export const miniLmGraph = (
  weight: (name: string) => Float32Array,
  precision: 'int8' | 'float32',
): Graph => {
  const nodes: Node[] = []
  const constants: Record<string, Tensor> = {}

  const vector = (name: string, source: string) => {
    const data = weight(source)
    constants[name] = { type: 'float32', shape: [data.length], data }
    return name
  }
  const table = (name: string, source: string) => {
    const data = weight(source)
    constants[name] = { type: 'float32', shape: [data.length / width, width], data }
    return name
  }
  /** output = input × weightᵀ + bias */
  const dense = (input: string, output: string, source: string, bias: boolean) => {
    const stored = weight(`${source}.weight`)
    const columns = weight(`${source}.bias`).length
    const rows = stored.length / columns
    const matrix = transposed(stored, columns, rows)
    const shape = [rows, columns]
    const biases = bias ? [vector(`${output}.bias`, `${source}.bias`)] : []
    if (precision === 'float32') {
      constants[`${output}.weight`] = { type: 'float32', shape, data: matrix }
      const product = bias ? `${output}.product` : output
      nodes.push({ operator: 'MatMul', inputs: [input, `${output}.weight`], outputs: [product] })
      if (bias) nodes.push({ operator: 'Add', inputs: [product, ...biases], outputs: [output] })
      return output
    }
    const { codes, scales } = quantised(matrix, rows, columns)
    constants[`${output}.weight`] = { type: 'int8', shape, data: codes }
    constants[`${output}.scale`] = { type: 'float32', shape: [columns], data: scales }
    nodes.push({
      operator: 'DynamicQuantizeMatMul',
      domain: contrib,
      inputs: [input, `${output}.weight`, `${output}.scale`, '', ...biases],
      outputs: [output],
    })
    return output
  }
  const normalise = (input: string, skip: string, output: string, source: string) => {
    nodes.push({
      operator: 'SkipLayerNormalization',
      domain: contrib,
      inputs: [
        input,
        skip,
        vector(`${output}.gamma`, `${source}.weight`),
        vector(`${output}.beta`, `${source}.bias`),
      ],
      outputs: [output],
      attributes: { epsilon },
    })
    return output
  }

  nodes.push({
    operator: 'EmbedLayerNormalization',
    domain: contrib,
    inputs: [
      'ids',
      '',
      table('words', 'embeddings.word_embeddings.weight'),
      table('positions', 'embeddings.position_embeddings.weight'),
      '',
      vector('embed.gamma', 'embeddings.LayerNorm.weight'),
      vector('embed.beta', 'embeddings.LayerNorm.bias'),
    ],
    outputs: ['hidden', 'unmasked'],
    attributes: { epsilon },
  })
  // Every text is of one segment, so the segment's vector is part of each position's.
  const positions = constants.positions
  const segment = weight('embeddings.token_type_embeddings.weight')
  if (positions)
    for (let i = 0; i < positions.data.length; i++)
      positions.data[i] = Number(positions.data[i]) + (segment[i % width] ?? 0)

  let hidden = 'hidden'
  for (let layer = 0; layer < layers; layer++) {
    const source = `encoder.layer.${layer}`
    const name = (part: string) => `${layer}.${part}`
    const bias = new Float32Array(3 * width)
    for (const [at, part] of (['query', 'key', 'value'] as const).entries()) {
      dense(hidden, name(part), `${source}.attention.self.${part}`, false)
      bias.set(weight(`${source}.attention.self.${part}.bias`), at * width)
    }
    constants[name('bias')] = { type: 'float32', shape: [3 * width], data: bias }
    nodes.push({
      operator: 'MultiHeadAttention',
      domain: contrib,
      inputs: [name('query'), name('key'), name('value'), name('bias')],
      outputs: [name('attended')],
      attributes: { num_heads: heads },
    })
    const projected = dense(
      name('attended'),
      name('projected'),
      `${source}.attention.output.dense`,
      true,
    )
    const middle = normalise(
      projected,
      hidden,
      name('middle'),
      `${source}.attention.output.LayerNorm`,
    )
    dense(middle, name('wide'), `${source}.intermediate.dense`, false)
    nodes.push({
      operator: 'BiasGelu',
      domain: contrib,
      inputs: [name('wide'), vector(name('wide.gelu'), `${source}.intermediate.dense.bias`)],
      outputs: [name('active')],
    })
    const narrow = dense(name('active'), name('narrow'), `${source}.output.dense`, true)
    hidden = normalise(narrow, middle, name('out'), `${source}.output.LayerNorm`)
  }

  nodes.push(
    {
      operator: 'ReduceMean',
      inputs: [hidden],
      outputs: ['mean'],
      attributes: { axes: { ints: [1] }, keepdims: 0 },
    },
    { operator: 'LpNormalization', inputs: ['mean'], outputs: ['vector'], attributes: { axis: 1 } },
  )
  return {
    nodes,
    constants,
    inputs: [{ name: 'ids', type: 'int32', shape: [1, 'length'] }],
    outputs: [{ name: 'vector', type: 'float32', shape: [1, width] }],
  }
}

const transposed = (matrix: Float32Array, rows: number, columns: number): Float32Array => {
  const out = new Float32Array(matrix.length)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      out[column * rows + row] = matrix[row * columns + column] ?? 0
  return out
}

const quantised = (matrix: Float32Array, rows: number, columns: number) => {
  const scales = new Float32Array(columns)
  for (let i = 0; i < matrix.length; i++) {
    const column = i % columns
    scales[column] = Math.max(scales[column] ?? 0, Math.abs(matrix[i] ?? 0) / 63)
  }
  const codes = new Int8Array(rows * columns)
  for (let i = 0; i < matrix.length; i++)
    codes[i] = Math.round((matrix[i] ?? 0) / (scales[i % columns] || 1))
  return { codes, scales }
}
