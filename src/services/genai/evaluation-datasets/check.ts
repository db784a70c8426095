import { type DatasetUse, datasetRows } from './rows.ts'

export interface DatasetFacts {
  rows: number
  has_ground_truth: boolean
  /** Characters that go to the candidate, over all rows. */
  input_characters: number
}

/** Reads a dataset to its end, or to its first fault, which is thrown. */
export const checkDataset = async (
  bytes: AsyncIterable<Uint8Array>,
  fileName: string,
  use: DatasetUse,
): Promise<DatasetFacts> => {
  const facts = { rows: 0, has_ground_truth: false, input_characters: 0 }
  for await (const rows of datasetRows(bytes, fileName, use)) {
    facts.rows += rows.length
    for (const row of rows) {
      facts.input_characters += row.input.length
      facts.has_ground_truth ||= row.ground_truth !== undefined
    }
  }
  return facts
}
