import { ApiError, messageOf } from '#core/error.ts'
import { boundedText } from '#platform/handle.ts'
import type { Service } from '#platform/service.ts'
import { allows } from '#platform/tokens.ts'
import { routers } from '#services/genai/routers/contract.ts'
import { createFace } from './face/face.ts'
import type { Inference } from './inference.ts'
import { percentile } from './meter.ts'

/** What a token must be allowed to do to ask models: it changes nothing. */
const scope = 'genai:read'

/** `/v1`: models and `router:<name>` for any OpenAI client. */
export const runtimeService =
  (inference: Inference): Service =>
  (on, kernel) => {
    const face = createFace({
      inference,
      readText: boundedText,
      admit: async (request) => {
        const token = await kernel.authenticate(request)
        if (!token) {
          throw new ApiError(401, 'The key is not a token of this Cove.', { id: 'invalid_api_key' })
        }
        if (allows(token.scopes, scope)) return
        throw ApiError.forbidden(`The token "${token.name}" lacks the scope ${scope}.`)
      },
      report: (error) =>
        kernel.log.error('A request for inference failed.', { cause: messageOf(error) }),
    })
    for (const surface of ['chat/completions', 'responses', 'embeddings'] as const) {
      kernel.route(`/v1/${surface}`, face.serve(surface))
    }
    kernel.route('/v1/models', face.models)
    kernel.route('/v1/models/*', face.models)

    on(routers.stats, async ({ query }) => ({
      stats: (await inference.meter.read(query.router)).map(
        ({ key: _key, first_token, total, ...counts }) => ({
          ...counts,
          first_token_ms: spread(first_token),
          total_ms: spread(total),
        }),
      ),
    }))

    kernel.onStart(async () => {
      const { routers: known } = await inference.known()
      // Whoever has routers will soon ask them; nobody else waits for the classifier to learn.
      if ([...known.values()].some(({ config }) => config.policies.length > 0)) inference.warm()
    })
    kernel.onStop(inference.close)
    kernel.report('inference', () =>
      inference.modelCount() > 0
        ? { state: 'running', enforced: true }
        : {
            state: 'running',
            enforced: false,
            reason: 'no model is known yet',
            fix: 'cove models add NAME --base-url URL',
          },
    )
  }

const spread = (histogram: readonly number[]) => {
  const p50 = percentile(histogram, 0.5)
  const p95 = percentile(histogram, 0.95)
  return p50 === null || p95 === null ? null : { p50, p95 }
}
