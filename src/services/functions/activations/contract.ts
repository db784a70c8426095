import { z } from 'zod'
import { KeyValue } from '../actions/contract.ts'

export const ActivationResponse = z.looseObject({
  status: z.string(),
  success: z.boolean(),
  result: z.unknown(),
  size: z.number().optional(),
})

/** The record of one call, as the data plane shows it. */
export const Activation = z.looseObject({
  namespace: z.string(),
  name: z.string(),
  version: z.string(),
  subject: z.string(),
  activationId: z.string(),
  cause: z.string().optional(),
  start: z.number(),
  end: z.number(),
  duration: z.number(),
  response: ActivationResponse,
  logs: z.array(z.string()),
  annotations: z.array(KeyValue),
  publish: z.boolean(),
})
export type Activation = z.infer<typeof Activation>
