import type { Service } from '#platform/service.ts'
import type { Plane } from './plane.ts'

/** The data plane as a part of the platform: its routes, its life and what it says of itself. */
export const dataPlaneService =
  (plane: Plane): Service =>
  (_on, kernel) => {
    const { invoker } = plane.ground
    kernel.route('/api/v1', plane.face)
    kernel.route('/api/v1/*', plane.face)
    kernel.onStart(plane.start)
    kernel.onStop(plane.stop)
    kernel.report('functions', () => {
      const { allowed, enforced, reason } = invoker.outlook()
      return {
        state: allowed ? 'running' : 'off',
        enforced,
        ...(reason ? { reason } : {}),
        ...(allowed ? {} : { fix: 'apt-get install bubblewrap, and run Cove as root' }),
      }
    })
  }
