/** Sizes of a node: memory in MiB, storage in MiB, US dollars an hour that the public cloud asks. */
export interface DatabaseSize {
  slug: string
  vcpus: number
  memory: number
  storage: number
  hourly: number
}

const gib = 1024

const size = (vcpus: number, memory: number, storage: number, monthly: number): DatabaseSize => ({
  slug: `db-s-${vcpus}vcpu-${memory}gb`,
  vcpus,
  memory: memory * gib,
  storage: storage * gib,
  hourly: Math.round((monthly / 672) * 100_000) / 100_000,
})

export const databaseSizes: readonly DatabaseSize[] = [
  size(1, 1, 10, 15),
  size(1, 2, 30, 30),
  size(2, 4, 60, 60),
  size(4, 8, 140, 120),
  size(6, 16, 290, 240),
  size(8, 32, 600, 480),
]

/** Storage may be added up to this many times the size's own. */
export const storageGrowth = 8

export const databaseSize = (slug: string): DatabaseSize | undefined =>
  databaseSizes.find((one) => one.slug === slug)
