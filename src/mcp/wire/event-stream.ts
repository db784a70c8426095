/** Proxies drop connections that are silent for long. */
const pulse = 15_000

/** A `text/event-stream` answer that grows with every message until it is closed. */
export class EventStream {
  readonly response: Response
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #encoder = new TextEncoder()
  #timer: NodeJS.Timeout

  /** `onGone`: the client closed the connection. */
  constructor(onGone: () => void) {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller
      },
      cancel: () => {
        this.#end()
        onGone()
      },
    })
    this.#timer = setInterval(() => this.#write(':\n\n'), pulse).unref()
    this.response = new Response(stream, {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      },
    })
  }

  send(message: string): void {
    this.#write(`event: message\ndata: ${message}\n\n`)
  }

  close(): void {
    const controller = this.#controller
    this.#end()
    controller?.close()
  }

  #write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text))
  }

  #end(): void {
    clearInterval(this.#timer)
    this.#controller = undefined
  }
}
