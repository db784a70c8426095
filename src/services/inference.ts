import type { Inference } from '#inference/inference.ts'
import { runtimeService } from '#inference/service.ts'
import type { Service } from '#platform/service.ts'
import { modelService } from './genai/models/platform.ts'
import { type ProviderParts, providerService } from './genai/providers/platform.ts'
import { routerService } from './genai/routers/platform.ts'

/** Models, routers and the runtime that serves them: the slices of one subject. */
export const inferenceServices = (
  inference: Inference,
  parts: Omit<ProviderParts, 'inference'>,
): Service[] => [
  modelService,
  routerService(inference.changed),
  providerService({ inference, ...parts }),
  runtimeService(inference),
]
