import { EventStream } from '#mcp/wire/event-stream.ts'

/** The response to one POST: whole, or a stream once something has to be sent before its end. */
export class Reply {
  readonly response: Promise<Response>
  #settle: ((response: Response) => void) | undefined
  #stream: EventStream | undefined
  #onGone: () => void

  constructor(onGone: () => void) {
    this.#onGone = onGone
    this.response = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** A message on the way to the answer. */
  send = (message: string): void => {
    if (this.#settle) {
      this.#stream = new EventStream(this.#onGone)
      this.#give(this.#stream.response)
    }
    this.#stream?.send(message)
  }

  /** The end: the answer goes into the stream when there is one. */
  finish(response: Response, message?: string): void {
    if (message !== undefined) this.#stream?.send(message)
    this.#stream?.close()
    this.#stream = undefined
    this.#give(response)
  }

  #give(response: Response): void {
    this.#settle?.(response)
    this.#settle = undefined
  }
}
