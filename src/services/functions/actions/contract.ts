import { z } from 'zod'

/** A parameter or an annotation, as the data plane writes them. */
export type KeyValue = z.infer<typeof KeyValue>
export const KeyValue = z.looseObject({
  key: z.string().min(1),
  value: z.unknown(),
  /** Given to the code as environment when it is taken in, not as an argument. */
  init: z.boolean().optional(),
})

/** What an action may ask for, with its unit. */
export const actionLimits = {
  /** ms */
  timeout: { min: 100, standard: 60_000, max: 900_000 },
  /** MB */
  memory: { min: 128, standard: 256, max: 1024 },
  /** MB */
  logs: { min: 0, standard: 10, max: 10 },
  concurrency: { min: 1, standard: 1, max: 1 },
} as const

export type Limits = z.infer<typeof Limits>
export const Limits = z.object({
  timeout: z.number().int(),
  memory: z.number().int(),
  logs: z.number().int(),
  concurrency: z.number().int(),
})

export type Exec = z.infer<typeof Exec>
export const Exec = z.looseObject({
  kind: z.string(),
  code: z.string().optional(),
  main: z.string().optional(),
  image: z.string().optional(),
  binary: z.boolean().optional(),
  components: z.array(z.string()).optional(),
})

/** An action as the data plane shows it. */
export const Action = z.looseObject({
  namespace: z.string(),
  name: z.string(),
  version: z.string(),
  publish: z.boolean(),
  exec: Exec.partial(),
  annotations: z.array(KeyValue),
  parameters: z.array(KeyValue),
  limits: Limits,
  updated: z.number(),
})
export type Action = z.infer<typeof Action>

/** What is sent to create or change one; what is left out stays as it is. */
export const ActionChange = z.looseObject({
  exec: Exec.optional(),
  annotations: z.array(KeyValue).optional(),
  delAnnotations: z.array(z.string()).optional(),
  parameters: z.array(KeyValue).optional(),
  limits: z.looseObject(Limits.partial().shape).optional(),
  publish: z.boolean().optional(),
  version: z.string().optional(),
})
export type ActionChange = z.infer<typeof ActionChange>
