/** A place in the index and how well it answers. */
export interface Scored {
  slot: number
  score: number
}

/** Keeps the best `limit` of what it is offered; of equals, the lower slot is better. */
export class Top {
  readonly #limit: number
  readonly #slots: Uint32Array
  readonly #scores: Float64Array
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
    this.#slots = new Uint32Array(limit)
    this.#scores = new Float64Array(limit)
  }

  /** A score must exceed this to be kept; cheap to ask before `offer`. */
  get bar(): number {
    return this.#size < this.#limit ? Number.NEGATIVE_INFINITY : (this.#scores[0] ?? 0)
  }

  /** Slots are to be offered in rising order: a later equal of the worst is then rightly refused. */
  offer(slot: number, score: number): void {
    if (this.#size < this.#limit) this.#rise(this.#size++, slot, score)
    else if (score > (this.#scores[0] ?? 0)) this.#sink(slot, score)
  }

  /** Best first. */
  ranked(): Scored[] {
    return Array.from({ length: this.#size }, (_, at) => ({
      slot: this.#slots[at] ?? 0,
      score: this.#scores[at] ?? 0,
    })).sort((a, b) => b.score - a.score || a.slot - b.slot)
  }

  #worse(at: number, slot: number, score: number): boolean {
    const other = this.#scores[at] ?? 0
    return other < score || (other === score && (this.#slots[at] ?? 0) > slot)
  }

  #place(at: number, slot: number, score: number) {
    this.#slots[at] = slot
    this.#scores[at] = score
  }

  #move(from: number, to: number) {
    this.#place(to, this.#slots[from] ?? 0, this.#scores[from] ?? 0)
  }

  #rise(from: number, slot: number, score: number) {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#worse(parent, slot, score)) break
      this.#move(parent, at)
      at = parent
    }
    this.#place(at, slot, score)
  }

  #sink(slot: number, score: number) {
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#size) break
      const right = child + 1
      if (
        right < this.#size &&
        this.#worse(right, this.#slots[child] ?? 0, this.#scores[child] ?? 0)
      )
        child = right
      if (!this.#worse(child, slot, score)) break
      this.#move(child, at)
      at = child
    }
    this.#place(at, slot, score)
  }
}
