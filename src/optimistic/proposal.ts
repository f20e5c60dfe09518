import { TimeoutError, UnsupportedProtocolError } from '@libp2p/interface'
import { PROTOCOL_NEGOTIATION_TIMEOUT } from '../libp2p.ts'
import { encodeProposal } from './codec.ts'
import { ExpectedReply } from './expected-reply.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * How a proposal ended:
 * - `accepted`: the reply was as presumed and is taken out of the stream
 * - `refused`: the reply was another one; the stream is aborted with an UnsupportedProtocolError
 * - `unanswered`: the stream ended before the reply was complete. FIN makes it an UnsupportedProtocolError, the end of
 * the connection a ConnectionClosedError, and silence a TimeoutError; or the peer reset the stream
 * - `aborted`: the stream or the connection was aborted at this end before the reply was complete
 */
export type ProposalOutcome = 'accepted' | 'refused' | 'unanswered' | 'aborted'

export interface ProposalInit {
  protocol: string

  /** Fail if there is no reply after this many ms */
  replyTimeout: number

  /** Fail if this is a timeout and fires before the reply */
  signal?: AbortSignal

  /** Resolves as long after the reply as libp2p would let an application wait for the stream. FIN waits for it */
  settle?(): Promise<unknown>

  /** The peer does not answer, or refuses: the stream is to end with this error */
  onFailed(error: Error): void
  onOutcome(outcome: ProposalOutcome): void

  /** FIN may leave now, or wait for less: see `mayFin` */
  onFinChange?(): void
}

/**
 * The proposal of a protocol on a stream or a connection: the data that is sent next follows at once. The reply is
 * verified, and taken out of the incoming data.
 *
 * Only FIN waits. A js-libp2p listener that receives FIN before it has chosen the handler resets the
 * stream, because it cannot put back what came behind the proposal. If it receives FIN before the
 * handler listens, a handler that reads with `for await` never ends. So FIN waits for the reply and
 * then as long as libp2p's own dialer would wait for its peer store, or until the handler has answered. A store that
 * hangs delays it for as long as a peer may take to agree on a protocol.
 */
export class Proposal {
  readonly protocol: string
  readonly bytes: Uint8Array
  readonly #init: ProposalInit
  readonly #reply: ExpectedReply
  #timeout: ReturnType<typeof setTimeout>
  #state: 'awaiting' | ProposalOutcome = 'awaiting'

  /**
   * - `held`: the peer has not replied
   * - `replied`: it has, and its handler may not listen yet
   * - `settling`: the same, and FIN waits
   * - `allowed`: FIN may leave
   */
  #fin: 'held' | 'replied' | 'settling' | 'allowed' = 'held'

  constructor (init: ProposalInit) {
    const { protocol, replyTimeout, signal } = init

    this.#init = init
    this.protocol = protocol
    this.bytes = encodeProposal(protocol)
    this.#reply = new ExpectedReply(this.bytes)
    this.#timeout = after(replyTimeout, () => {
      // after a stall of the process timers run before the event loop reads what came meanwhile
      this.#timeout = after(0, () => { this.#onTimeout(replyTimeout) })
    })
    signal?.addEventListener('abort', this.#onSignal)
  }

  get isAwaiting (): boolean {
    return this.#state === 'awaiting'
  }

  /** Whether the stream may send FIN */
  get mayFin (): boolean {
    return this.#fin === 'allowed'
  }

  /** Someone wants to send FIN, which is not allowed yet */
  async waitForHandler (): Promise<void> {
    if (this.#fin !== 'replied') {
      return
    }

    this.#fin = 'settling'

    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = after(PROTOCOL_NEGOTIATION_TIMEOUT, resolve)

    await Promise.race([this.#init.settle?.(), promise])
    clearTimeout(timer)
    this.allowFin()
  }

  /** FIN may leave although the peer has not replied, or its handler may not listen */
  allowFin (): void {
    if (this.#fin !== 'allowed') {
      this.#fin = 'allowed'
      this.#init.onFinChange?.()
    }
  }

  /**
   * Data of the peer.
   *
   * @returns what is behind the reply. It comes from the handler, so the handler runs: see `allowFin`
   */
  receive (data: Uint8ArrayList): Uint8ArrayList | undefined {
    if (this.#state === 'accepted') {
      return data
    }

    let replyBytes = 0

    for (const bytes of data) {
      replyBytes += bytes.byteLength - this.#reply.receive(bytes).byteLength

      if (this.#reply.state !== 'awaiting') {
        break
      }
    }

    if (this.#reply.state === 'refused') {
      this.#fail('refused', this.#unsupported('the peer refused it'))
    } else if (this.#reply.state === 'verified') {
      this.#fin = this.#fin === 'held' ? 'replied' : this.#fin
      this.#settle('accepted')

      if (replyBytes < data.byteLength) {
        return data.sublist(replyBytes)
      }

      this.#init.onFinChange?.()
    }
  }

  /** The peer has closed its end */
  onFin (): void {
    if (this.isAwaiting) {
      this.#fail('unanswered', this.#unsupported('the peer closed the stream before it replied'))
    }
  }

  /** The stream has ended */
  onEnd (outcome: 'aborted' | 'unanswered'): void {
    this.#settle(outcome)
  }

  /**
   * A timeout is how long the negotiation may take. Otherwise the caller has the stream by now, and aborts what else the
   * signal belongs to
   */
  readonly #onSignal = (): void => {
    const reason = this.#init.signal?.reason

    if (reason?.name === 'TimeoutError') {
      this.#fail('aborted', reason)
    }
  }

  #onTimeout (ms: number): void {
    this.#fail('unanswered', new TimeoutError(`Optimistic negotiation of ${this.protocol} failed: the peer did not reply within ${ms}ms`))
  }

  #unsupported (reason: string): Error {
    return new UnsupportedProtocolError(`Optimistic negotiation of ${this.protocol} failed: ${reason}`)
  }

  #fail (outcome: ProposalOutcome, error: Error): void {
    this.#settle(outcome)
    this.#init.onFailed(error)
  }

  #settle (outcome: ProposalOutcome): void {
    if (this.isAwaiting) {
      this.#state = outcome
      clearTimeout(this.#timeout)
      this.#init.signal?.removeEventListener('abort', this.#onSignal)
      this.#init.onOutcome(outcome)
    }
  }
}

function after (ms: number, callback: (value?: any) => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(callback, ms)

  // browsers have numbers
  ;(timer as Partial<NodeJS.Timeout>).unref?.()

  return timer
}
