/** Sizes of instances: slug, memory in MB, vCPUs, disk in GB, transfer in TB, US dollars a month. */
const rows: readonly [string, string, number, number, number, number, number][] = [
  ['s-1vcpu-512mb-10gb', 'Basic', 512, 1, 10, 0.5, 4],
  ['s-1vcpu-1gb', 'Basic', 1024, 1, 25, 1, 6],
  ['s-1vcpu-2gb', 'Basic', 2048, 1, 50, 2, 12],
  ['s-2vcpu-2gb', 'Basic', 2048, 2, 60, 3, 18],
  ['s-2vcpu-4gb', 'Basic', 4096, 2, 80, 4, 24],
  ['s-4vcpu-8gb', 'Basic', 8192, 4, 160, 5, 48],
  ['s-8vcpu-16gb', 'Basic', 16384, 8, 320, 6, 96],
  ['g-2vcpu-8gb', 'General Purpose', 8192, 2, 25, 4, 63],
  ['c-2', 'CPU-Optimized', 4096, 2, 25, 4, 42],
  ['c-4', 'CPU-Optimized', 8192, 4, 50, 5, 84],
  ['m-2vcpu-16gb', 'Memory-Optimized', 16384, 2, 50, 4, 84],
]

const billedHours = 672

export const sizeCatalogue = rows.map(
  ([slug, description, memory, vcpus, disk, transfer, monthly]) => ({
    slug,
    description,
    memory,
    vcpus,
    disk,
    transfer,
    price_monthly: monthly,
    price_hourly: Math.round((monthly / billedHours) * 1e5) / 1e5,
    available: true,
  }),
)

export const sizeSlugs: string[] = sizeCatalogue.map((size) => size.slug)
