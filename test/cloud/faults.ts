import { headers } from './cloud.ts'

const requestId = 'request-of-the-fault'

/** An error as the v2 API words it. */
export const refused = (status: number, message: string, more: Record<string, string> = {}) =>
  Response.json(
    { id: 'some_error', message, error: message, request_id: requestId },
    { status, headers: { ...headers, ...more } },
  )

/** An answer that ends in the middle. */
export const cut = () =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"domains": [')),
      pull: (controller) => controller.error(new Error('the connection broke')),
    }),
    { headers },
  )

/** No answer before the caller gives up. */
export const never = ({ signal }: { signal: AbortSignal }) =>
  new Promise<Response>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
