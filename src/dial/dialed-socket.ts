import { ConnectionClosedError, TimeoutError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { SocketConnection } from '../connection/socket-connection.ts'
import { FIRST_WRITE_TIMEOUT, PlanError } from '../connector.ts'
import { abortError } from '../errors.ts'
import { DialProposal } from '../optimistic/dial-proposal.ts'
import { describeNegotiation } from './negotiation-plan.ts'
import type { Address } from './address.ts'
import type { Dial } from './context.ts'
import type { Plan } from './plan.ts'
import type { WireFilter } from '../connection/wire-filter.ts'
import type { OpenSocket } from '../connector.ts'
import type { Connection, CounterGroup } from '@libp2p/interface'
import type { Socket } from 'node:net'

/**
 * A socket that a plan has opened. The peer has received a SYN, and data at most if it waited for that. With TCP Fast Open the SYN
 * may still wait for the first write.
 */
export class DialedSocket {
  readonly plan: Plan
  readonly #dial: Dial
  readonly #address: Address
  readonly #opened: OpenSocket
  readonly #signal: AbortSignal

  /** The peer had yet to answer the SYN when the socket was opened */
  readonly #isPending: boolean

  constructor (dial: Dial, address: Address, plan: Plan, opened: OpenSocket, signal: AbortSignal) {
    this.plan = plan
    this.#dial = dial
    this.#address = address
    this.#opened = opened
    this.#signal = signal
    this.#isPending = opened.established?.look() === 'pending'
    dial.parts.sockets.add(opened.socket)
  }

  /** The peer has said something */
  get hasAnswered (): boolean {
    return this.#opened.socket.bytesRead > 0
  }

  /** With TCP Fast Open only what comes back shows that the peer has answered the SYN */
  get isConnected (): boolean {
    return this.hasAnswered || !this.#isPending
  }

  discard (): void {
    this.#opened.established?.end()
    this.#opened.socket.destroy()
  }

  /**
   * @throws {PlanError} if another plan may do better
   * @throws {Error} the upgrader's error, or what a connect rejects with. No socket is left then
   */
  async upgrade (): Promise<Connection> {
    const { options, parts: { log, metrics } } = this.#dial
    const { established, watch } = this.#opened
    const { negotiation: how } = this.plan
    const { ma } = this.#address
    const negotiation = how.name === 'optimistic' ? new DialProposal() : undefined
    const filter = options.initiator === false ? negotiation : watch?.(negotiation) ?? negotiation
    const maConn = this.#toConnection(filter)

    try {
      log('new outbound connection %a', ma)

      const connection = await this.#runUpgrader(maConn)
      log('negotiation with %a was %s', ma, describeNegotiation(how, negotiation))

      if (this.#isPending) {
        await this.#settled()
      }

      // the encrypter or the muxer aborted it while the upgrader waited for something else
      if (maConn.status === 'aborted') {
        const error = maConn.closeError ?? new ConnectionClosedError(`The connection to ${ma} was aborted before it was upgraded`)
        abandon(connection, error)
        throw error
      }

      return connection
    } catch (err: any) {
      const lateError = this.#isPending ? this.#lateError(err) : undefined
      maConn.abort(err)

      if (lateError != null) {
        throw lateError
      }

      if (maConn.closeError instanceof PlanError) {
        throw new PlanError(maConn.closeError.reason, `The connection to ${ma} is one that the peer dialed too`, err)
      }

      log('negotiation with %a, which failed, was %s', ma, describeNegotiation(how, negotiation))

      // the bytes that came decide: the upgrader's error does not say why it failed
      if (negotiation?.state === 'refused' && !this.#signal.aborted) {
        throw new PlanError('refused', `${ma} refused ${negotiation.protocol}`, err)
      }

      metrics?.errors.increment({ outbound_upgrade: true })
      log.error('error upgrading outbound connection - %e', err)
      throw err
    } finally {
      established?.end()
      this.#countOutcome(negotiation)
    }
  }

  #toConnection (filter?: WireFilter): SocketConnection {
    const { established, port, socket } = this.#opened
    const { options, parts, report, settings } = this.#dial

    try {
      if (port != null) {
        report.leftFrom(this.#address, port)
      }

      if (!this.#isPending) {
        report.opened(this.#address, established?.outcome)
      }
    } catch (err) {
      // nobody else knows the socket
      this.discard()
      throw err
    }

    try {
      const maConn = new SocketConnection({
        socket,
        remoteAddr: this.#address.ma,
        // muxers take their role from it: if two nodes dial each other at once, one must be the server
        direction: options.initiator === false ? 'inbound' : 'outbound',
        settings: settings.connection,
        lingering: parts.lingering,
        filter,
        // the SYN carries the proposal of the encrypter and the first message of the handshake, in one write
        gather: this.#isPending ? FIRST_WRITE_TIMEOUT : 0,
        metrics: this.#isPending ? onceAnswered(socket, parts.metrics?.events) : parts.metrics?.events,
        log: parts.connectionLog
      })

      parts.onConnection(maConn, port)

      return maConn
    } catch (err: any) {
      parts.metrics?.errors.increment({ outbound_to_connection: true })
      socket.destroy(err)
      throw err
    }
  }

  /** Not every await of the upgrade looks at the signal */
  async #runUpgrader (maConn: SocketConnection): Promise<Connection> {
    const { options } = this.#dial
    const signal = this.#signal

    return raceSignal(maConn.upgrade(async () => options.upgrader.upgradeOutbound(maConn, { ...options, signal })), signal, {
      translateError: () => abortError(signal)
    })
  }

  /** The upgrade is done. It has nearly always heard from the peer; if not, wait until the peer has answered the SYN */
  async #settled (): Promise<void> {
    const { established, socket } = this.#opened
    const signal = this.#signal

    if (socket.bytesRead === 0 && established != null) {
      await raceSignal(established.settled(), signal, { translateError: () => signal.reason })
    }

    const error = established?.look() === 'failed' ? established.error : undefined

    if (error != null) {
      throw error
    }

    this.#dial.report.opened(this.#address, established?.outcome)
  }

  /** The upgrade over a socket with TCP Fast Open has failed. Was it ever connected? */
  #lateError (err: Error): Error | undefined {
    const { established, socket } = this.#opened

    if (established?.error instanceof PlanError) {
      return established.error
    }

    if (socket.bytesRead > 0 || established?.look() === 'established') {
      this.#dial.report.opened(this.#address, established?.outcome)
      return
    }

    return connectError(this.#dial, this.#address, this.#signal, established?.error ?? err)
  }

  #countOutcome (negotiation?: DialProposal): void {
    const { metrics } = this.#dial.parts

    if (negotiation?.state === 'verified') {
      metrics?.optimistic?.increment({ accepted: true })
    } else if (negotiation?.state === 'refused') {
      metrics?.optimistic?.increment({ refused: true })
    }
  }
}

/** A connect has failed: what that looks like to who dials */
export function connectError ({ options, report }: Dial, address: Address, { aborted, reason }: AbortSignal, err: Error): Error {
  if (aborted && !(reason instanceof TimeoutError)) {
    return abortError(options.signal)
  }

  return report.failed(address, aborted ? reason : err)
}

/** Its muxer was made after the connection had ended, or is not needed: it may throw when it tries to send a last message */
export function abandon (connection: Connection, error: Error): void {
  try {
    connection.abort(error)
  } catch {
    // the error of the dial counts
  }
}

/** Counts nothing of a connection before the peer has answered the SYN: the dial may still end as one that could not connect */
function onceAnswered (socket: Socket, events?: CounterGroup): CounterGroup | undefined {
  return events == null ? undefined : { increment: values => { socket.bytesRead > 0 && events.increment(values) }, reset: () => { events.reset() } }
}
