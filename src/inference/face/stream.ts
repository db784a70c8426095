import { errorEvent } from './errors.ts'

/**
 * A stream for the caller, pulled as fast as the caller reads. What breaks it is told as an event;
 * a caller that goes away ends it by `abandon`, even while the model is silent.
 */
export const relay = (
  events: AsyncGenerator<Buffer, void, undefined>,
  responses: boolean,
  { abandon, ended }: { abandon: () => void; ended: () => void },
): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await events.next()
          if (!done) return controller.enqueue(value)
        } catch (error) {
          controller.enqueue(errorEvent(responses, error))
        }
        ended()
        controller.close()
      },
      async cancel() {
        abandon()
        ended()
        await events.return()
      },
    },
    { highWaterMark: 0 },
  )
