import type { Scored } from './top.ts'

/** How many of each ranking take part in the fusion. */
export const fusionWindow = 200

/**
 * One ranking from two. Each side's scores are brought to 0…1 (the best is 1; the last of a full
 * window, or no hit at all, is 0) and weighted: (1 − alpha) × keyword + alpha × semantic. What only
 * one side found has 0 on the other.
 */
export const fuse = (
  keyword: readonly Scored[],
  semantic: readonly Scored[],
  alpha: number,
): Scored[] => {
  const scores = new Map<number, number>()
  const weigh = (ranking: readonly Scored[], weight: number, floor: number) => {
    if (weight === 0) return
    const best = ranking[0]?.score ?? 0
    for (const { slot, score } of ranking) {
      const share = best > floor ? (score - floor) / (best - floor) : 1
      scores.set(slot, (scores.get(slot) ?? 0) + weight * share)
    }
  }
  weigh(keyword, 1 - alpha, keyword.length < fusionWindow ? 0 : lowest(keyword))
  weigh(semantic, alpha, lowest(semantic))
  return [...scores]
    .map(([slot, score]) => ({ slot, score }))
    .sort((a, b) => b.score - a.score || a.slot - b.slot)
}

const lowest = (ranking: readonly Scored[]): number => ranking.at(-1)?.score ?? 0
