import type { Service } from '#platform/service.ts'
import { actionService } from './account/actions/platform.ts'
import { billingService } from './account/billing/platform.ts'
import { informationService } from './account/information/platform.ts'
import { keyService } from './account/keys/platform.ts'
import { regionService } from './compute/regions/platform.ts'
import { sizeService } from './compute/sizes/platform.ts'
import { tagService } from './compute/tags/platform.ts'
import { auditService } from './cove/audit/platform.ts'

/** Every service of the embedded platform that needs nothing but the kernel. */
export const platformServices: readonly Service[] = [
  actionService,
  billingService,
  informationService,
  keyService,
  regionService,
  sizeService,
  tagService,
  auditService,
]
