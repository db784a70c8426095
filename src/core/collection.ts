/** A kind of record the platform keeps, declared beside the contract so that other slices may read it. */
export interface Collection<T extends object> {
  /** Name of the table: `domains`. */
  readonly name: string
  /** How a person calls one: `Domain`. */
  readonly called: string
  readonly key: keyof T & string
  /** Fields that `where` may name besides the key. */
  readonly indexes: readonly (keyof T & string)[]
  /** Sets of fields whose values together are unique. */
  readonly unique: readonly (readonly (keyof T & string)[])[]
  /** Records that a reconciler brings about: every write makes them due. */
  readonly reconciled: boolean
}

export const collection = <T extends object>(
  name: string,
  spec: Pick<Collection<T>, 'called' | 'key'> &
    Partial<Pick<Collection<T>, 'indexes' | 'unique' | 'reconciled'>>,
): Collection<T> => ({ name, indexes: [], unique: [], reconciled: false, ...spec })
