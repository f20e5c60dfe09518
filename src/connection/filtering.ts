import type { WireFilter } from './wire-filter.ts'
import type { MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** Passes a connection's data through a filter until that is done. After that, and without one, all data passes */
export class Filtering {
  #filter?: WireFilter

  /** Is aborted with the error of the filter */
  readonly #connection: Pick<MessageStream, 'abort'>

  constructor (filter: WireFilter | undefined, connection: Pick<MessageStream, 'abort'>) {
    this.#filter = filter
    this.#connection = connection
  }

  get isOver (): boolean {
    return this.#filter == null
  }

  /** @returns what the reader shall receive at once, as if it came from the peer */
  onSend (data: Uint8ArrayList): Uint8Array | undefined {
    const answer = this.#filter?.onSend(data)
    this.#dropIfDone()

    return answer
  }

  /** @returns what is for the reader, or nothing if the connection was aborted */
  onReceive (data: Uint8Array): Uint8Array | undefined {
    const filter = this.#filter

    return filter == null ? data : this.#attempt(() => filter.onReceive(data))
  }

  /**
   * The peer sent FIN or RST.
   *
   * @returns whether the connection lives on
   */
  onEnd (): boolean {
    return this.#attempt(() => {
      this.#filter?.onEnd()

      return true
    }) === true
  }

  #attempt <T> (use: () => T): T | undefined {
    try {
      const result = use()
      this.#dropIfDone()

      return result
    } catch (err: any) {
      this.#filter = undefined
      this.#connection.abort(err)
    }
  }

  #dropIfDone (): void {
    if (this.#filter?.done === true) {
      this.#filter = undefined
    }
  }
}
