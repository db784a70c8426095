/** Turns text into vectors that are near each other when the texts mean something similar. */
export interface Embedder {
  /** Names the model and everything that shapes its vectors: a change of it re-embeds. */
  readonly model: string
  /** Length of the vectors; asked for once, as an endpoint must be asked. */
  width(): Promise<number>
  /** One vector of length 1 a text, in order. An `urgent` call overtakes those that wait. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>
}

export interface EmbedOptions {
  signal?: AbortSignal
  urgent?: boolean
}

export const unit = (vector: ArrayLike<number>): Float32Array => {
  let square = 0
  for (let at = 0; at < vector.length; at++) square += (vector[at] ?? 0) ** 2
  const length = Math.sqrt(square) || 1
  return Float32Array.from(vector, (part) => part / length)
}
