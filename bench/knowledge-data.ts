import type { Chunk } from '#knowledge/index/index.ts'

/** Chunks that look like text to an index: words by Zipf's law, vectors in clusters as topics make. */

export const width = 384
const vocabulary = 50_000
const topics = 500
/** Every chunk is in one of so many categories: a filter on one leaves 1 %. */
const categories = 100

export interface SyntheticChunk extends Chunk {
  category: number
}

export const synthetic = (random: () => number) => {
  const gauss = () => Math.sqrt(-2 * Math.log(random() || 1e-9)) * Math.cos(2 * Math.PI * random())
  const centres = Array.from({ length: topics }, () => Float32Array.from({ length: width }, gauss))
  /** Rank r of the vocabulary turns up with a probability near 1 / r. */
  const word = () => `w${Math.floor(vocabulary ** random()).toString(36)}x`

  const near = (topic: number): Float32Array => {
    const centre = centres[topic] ?? new Float32Array(width)
    const vector = Float32Array.from(centre, (part) => part + gauss())
    const length = Math.hypot(...vector)
    return vector.map((part) => part / length)
  }

  return {
    chunk: (): SyntheticChunk => {
      const words = Array.from({ length: 80 + Math.floor(random() * 40) }, word)
      const category = Math.floor(random() * categories)
      return {
        text: words.join(' '),
        heading: '',
        category,
        metadata: { category },
        vector: near(Math.floor(random() * topics)),
      }
    },
    /** Six words that are not among the commonest, and a vector near a topic. */
    query: () => {
      const words: string[] = []
      while (words.length < 6) {
        const rank = Math.floor(vocabulary ** random())
        if (rank > 50) words.push(`w${rank.toString(36)}x`)
      }
      return { words, vector: near(Math.floor(random() * topics)) }
    },
  }
}
