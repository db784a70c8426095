/** Tensors of a safetensors file, widened to 32-bit floats as they are asked for. */
export const readSafetensors = (file: Uint8Array): ((name: string) => Float32Array) => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const headerLength = Number(view.getBigUint64(0, true))
  const header: Record<string, { dtype: string; data_offsets: [number, number] }> = JSON.parse(
    new TextDecoder().decode(file.subarray(8, 8 + headerLength)),
  )
  const base = 8 + headerLength
  return (name) => {
    const entry = header[name]
    if (entry?.dtype !== 'F16') throw new Error(`The weights hold no 16-bit tensor ${name}.`)
    const [start, end] = entry.data_offsets
    const out = new Float32Array((end - start) / 2)
    for (let i = 0; i < out.length; i++)
      out[i] = halfToFloat(view.getUint16(base + start + 2 * i, true))
    return out
  }
}

const halfToFloat = (half: number): number => {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
