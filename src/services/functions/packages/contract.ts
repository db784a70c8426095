import { z } from 'zod'
import { KeyValue } from '../actions/contract.ts'

export const Binding = z.object({ namespace: z.string(), name: z.string() })
export type Binding = z.infer<typeof Binding>

/** A package as the data plane shows it. */
export const Package = z.looseObject({
  namespace: z.string(),
  name: z.string(),
  version: z.string(),
  publish: z.boolean(),
  annotations: z.array(KeyValue),
  parameters: z.array(KeyValue),
  binding: z.union([Binding, z.object({})]),
  actions: z.array(z.looseObject({ name: z.string(), version: z.string() })),
  feeds: z.array(z.unknown()),
})

export const PackageChange = z.looseObject({
  publish: z.boolean().optional(),
  annotations: z.array(KeyValue).optional(),
  parameters: z.array(KeyValue).optional(),
  binding: z.union([Binding, z.object({}).strict()]).optional(),
  version: z.string().optional(),
})
export type PackageChange = z.infer<typeof PackageChange>
