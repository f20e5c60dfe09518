import { StreamMessageEvent } from '@libp2p/interface'
import { AbstractMessageStream } from '@libp2p/utils'
import { Uint8ArrayList } from 'uint8arraylist'
import { safeLog } from '../safe-logger.ts'
import { Proposal } from './proposal.ts'
import type { ProposalOutcome } from './proposal.ts'
import type { AbortOptions, MessageStream, StreamCloseEvent } from '@libp2p/interface'
import type { SendResult } from '@libp2p/utils'

export interface ProposedConnectionInit {
  protocol: string

  /** Abort the connection if there is no reply after this many ms */
  replyTimeout: number
  onOutcome(outcome: ProposalOutcome): void
}

/**
 * A connection on which a protocol was proposed: the reply is verified, and taken out of what the peer sends. The rest
 * passes through. With another reply, or none, the connection is aborted.
 */
export class ProposedConnection extends AbstractMessageStream {
  readonly #connection: MessageStream
  readonly #proposal: Proposal

  constructor (connection: MessageStream, { protocol, replyTimeout, onOutcome }: ProposedConnectionInit) {
    super({
      log: safeLog(connection.log),
      inactivityTimeout: connection.inactivityTimeout,
      maxReadBufferLength: connection.maxReadBufferLength,
      direction: connection.direction
    })

    this.#connection = connection
    this.#proposal = new Proposal({
      protocol,
      replyTimeout,
      onFailed: err => { this.abort(err) },
      onOutcome
    })

    connection.addEventListener('message', ({ data }) => { this.#onMessage(data) })
    connection.addEventListener('drain', () => { this.safeDispatchEvent('drain') })
    connection.addEventListener('remoteCloseWrite', () => { this.#onFin() })
    connection.addEventListener('close', event => { this.#onClose(event) })

    connection.send(this.#proposal.bytes)
  }

  send (data: Uint8Array | Uint8ArrayList): boolean {
    const canSendMore = this.#connection.send(data)

    this.writableNeedsDrain = !canSendMore

    return canSendMore
  }

  /** Called by the base class for what waits here, which is nothing */
  sendData (data: Uint8ArrayList): SendResult {
    return { sentBytes: data.byteLength, canSendMore: this.send(data) }
  }

  sendReset (err: Error): void {
    this.#connection.abort(err)
  }

  sendPause (): void {
    this.#connection.pause()
  }

  sendResume (): void {
    this.#connection.resume()
  }

  async close (options?: AbortOptions): Promise<void> {
    await this.#connection.close(options)
  }

  #onMessage (data: Uint8Array | Uint8ArrayList): void {
    const rest = this.#proposal.isAwaiting ? this.#proposal.receive(data instanceof Uint8Array ? new Uint8ArrayList(data) : data) : data

    if (rest == null) {
      return
    }

    if (this.readStatus === 'readable' && this.readBuffer.byteLength === 0 && this.listenerCount('message') > 0) {
      this.dispatchEvent(new StreamMessageEvent(rest))
    } else {
      this.onData(rest)
    }
  }

  #onFin (): void {
    this.#proposal.onFin()
    this.onRemoteCloseWrite()
  }

  #onClose ({ error, local }: StreamCloseEvent): void {
    this.#proposal.onEnd(local === true ? 'aborted' : 'unanswered')

    if (error == null) {
      this.onTransportClosed()
    } else if (local === true) {
      this.abort(error)
    } else {
      this.onRemoteReset()
    }
  }
}
