import type { Filter } from '../filter.ts'
import { satisfies } from '../filter.ts'
import type { Metadata, MetadataValue } from './index.ts'

/** Slots that a filter leaves, in rising order. */
export interface Matched {
  slots: Uint32Array
}

/** The metadata of all slots, a column a field, each value kept once and referred to by number. */
export class Columns {
  readonly #columns = new Map<string, Column>()
  #size = 0

  /** Fields of the second win over those of the first. */
  set(slot: number, ...metadata: readonly Metadata[]): void {
    // A slot that is set again must lose what it no longer has.
    if (slot < this.#size) for (const column of this.#columns.values()) column.clear(slot)
    this.#size = Math.max(this.#size, slot + 1)
    for (const fields of metadata)
      for (const key in fields) {
        let column = this.#columns.get(key)
        if (!column) {
          column = new Column()
          this.#columns.set(key, column)
        }
        column.set(slot, fields[key] ?? '')
      }
  }

  match(filter: Filter, alive: (slot: number) => boolean): Matched {
    return { slots: Uint32Array.from(this.#slots(filter).filter(alive)) }
  }

  #slots(filter: Filter): number[] {
    const column = filter.kind === 'compare' ? this.#columns.get(filter.key) : undefined
    if (filter.kind === 'compare' && column)
      return column.slots(this.#size, (field) => satisfies(filter.operator, field, filter.value))
    const mask = this.#mask(filter)
    const slots: number[] = []
    for (let slot = 0; slot < mask.length; slot++) if (mask[slot]) slots.push(slot)
    return slots
  }

  #mask(filter: Filter): Uint8Array {
    if (filter.kind === 'compare') {
      const verdict = (field: MetadataValue | undefined) =>
        satisfies(filter.operator, field, filter.value)
      const column = this.#columns.get(filter.key)
      return column
        ? column.mask(this.#size, verdict)
        : new Uint8Array(this.#size).fill(Number(verdict(undefined)))
    }
    const [first, ...rest] = filter.parts.map((part) => this.#mask(part))
    const mask = first ?? new Uint8Array(this.#size)
    for (const other of rest)
      for (let slot = 0; slot < mask.length; slot++) {
        const bit = other[slot] ?? 0
        mask[slot] = filter.kind === 'all' ? (mask[slot] ?? 0) & bit : (mask[slot] ?? 0) | bit
      }
    return mask
  }
}

class Column {
  /** Number of each slot's value; 0 where it has none. */
  #numbers = new Uint32Array(1024)
  readonly #values: (MetadataValue | undefined)[] = [undefined]
  readonly #scalars = new Map<string | number, number>()
  readonly #lists = new Map<string, number>()

  set(slot: number, value: MetadataValue): void {
    if (slot >= this.#numbers.length) {
      const larger = new Uint32Array(Math.max(slot + 1, this.#numbers.length * 2))
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[slot] =
      typeof value === 'object'
        ? this.#number(this.#lists, JSON.stringify(value), value)
        : this.#number(this.#scalars, value, value)
  }

  #number<K>(known: Map<K, number>, name: K, value: MetadataValue): number {
    let number = known.get(name)
    if (number === undefined) {
      number = this.#values.push(value) - 1
      known.set(name, number)
    }
    return number
  }

  clear(slot: number): void {
    if (slot < this.#numbers.length) this.#numbers[slot] = 0
  }

  /** Where a comparison holds, as a mask. It is made once for each value, not for each slot. */
  mask(size: number, verdict: Verdict): Uint8Array {
    const verdicts = this.#verdicts(verdict)
    const numbers = this.#numbers
    const mask = new Uint8Array(size)
    if (verdicts[0]) mask.fill(1)
    const known = Math.min(size, numbers.length)
    for (let slot = 0; slot < known; slot++)
      mask[slot] = verdicts[numbers[slot] as number] as number
    return mask
  }

  /** The same as a list. */
  slots(size: number, verdict: Verdict): number[] {
    const verdicts = this.#verdicts(verdict)
    const numbers = this.#numbers
    const slots: number[] = []
    const known = Math.min(size, numbers.length)
    for (let slot = 0; slot < known; slot++)
      if (verdicts[numbers[slot] as number] === 1) slots.push(slot)
    if (verdicts[0]) for (let slot = known; slot < size; slot++) slots.push(slot)
    return slots
  }

  #verdicts(verdict: Verdict): Uint8Array {
    return Uint8Array.from(this.#values, (value) => Number(verdict(value)))
  }
}

type Verdict = (value: MetadataValue | undefined) => boolean
