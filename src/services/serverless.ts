import { totalmem } from 'node:os'
import { join } from 'node:path'
import { createSandboxes } from '#engines/sandbox/sandboxes.ts'
import type { Kernel, Service } from '#platform/service.ts'
import { accessKeyService } from './functions/keys/platform.ts'
import { namespaceService } from './functions/namespaces/platform.ts'
import { standardSettings } from './functions/plane/ground.ts'
import { createPlane } from './functions/plane/plane.ts'
import { dataPlaneService } from './functions/plane/platform.ts'
import { triggerService } from './functions/triggers/platform.ts'

/** How functions run on this machine. */
export interface FunctionOptions {
  isolation: 'required' | 'best-effort'
  network: 'public' | 'none'
  /** MB that all sandboxes together may use. */
  memory: number
  /** Whether to keep started sandboxes at hand. */
  reserve: boolean
  /** ms that activations are kept. */
  retention: number
  /** Folder that compilers keep their work in. */
  buildCache: string
}

export interface ServerlessParts {
  /** Where this Cove answers. */
  url: () => string
  functions?: Partial<FunctionOptions>
}

/** ms after which an idle sandbox ends, and after which it is stopped until its next call. */
const idle = { end: 600_000, pause: 100 }
const megabyte = 1024 * 1024

/** The functions platform: one plane, and the slices of the API that act on it. */
export const serverlessService =
  ({ url, functions = {} }: ServerlessParts): Service =>
  (on, kernel) => {
    const { store, clock, ids, log } = kernel
    const retention = functions.retention ?? standardSettings.retention
    const plane = createPlane(
      {
        store,
        clock,
        ids,
        log,
        invoker: sandboxes(kernel, functions),
        url,
        fetch: (request) => fetch(request),
        settings: { ...standardSettings, retention },
      },
      () => kernel.folder('functions'),
    )
    for (const service of [namespaceService, accessKeyService, triggerService, dataPlaneService])
      service(plane)(on, kernel)
  }

const sandboxes = ({ folder, clock, log }: Kernel, options: Partial<FunctionOptions>) => {
  const home = folder('functions')
  return createSandboxes({
    home,
    images: join(home, 'images'),
    buildCache: options.buildCache ?? join(home, 'build-cache'),
    network: options.network ?? 'public',
    isolation: options.isolation ?? 'required',
    reserve: options.reserve ?? true,
    pool: {
      budget: options.memory ?? Math.round(totalmem() / megabyte / 2),
      queue: standardSettings.queue,
      idle: idle.end,
      pause: idle.pause,
    },
    answerBytes: standardSettings.payload,
    now: clock.now,
    log: (message) => log.warn(message),
  })
}
