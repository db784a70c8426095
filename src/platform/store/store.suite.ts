import { claims } from './suite/claims.ts'
import { lasting } from './suite/lasting.ts'
import { opening, type Place } from './suite/place.ts'
import { records } from './suite/records.ts'
import { transactions } from './suite/transactions.ts'

/** What every store promises, whatever it is made of. */
export const storeSuite = (newPlace: () => Promise<Place>) => {
  const open = opening(newPlace)
  records(open)
  transactions(open)
  claims(open)
}

export const lastingStoreSuite = (newPlace: () => Promise<Place>) => {
  storeSuite(newPlace)
  lasting(newPlace)
}
