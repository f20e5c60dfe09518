import { ConnectionClosedError } from '@libp2p/interface'
import { CustomProgressEvent } from 'progress-events'
import { raceSignal } from 'race-signal'
import { endpointName, toEndpoint } from '../addresses.ts'
import { SocketConnection } from '../connection/socket-connection.ts'
import { abortError, withCause } from '../errors.ts'
import { SimultaneousOpen, SimultaneousOpenError } from '../nat/simultaneous-open.ts'
import { dialSettings } from '../settings.ts'
import { LostCookieError, maySynWait } from './late-connect.ts'
import { chooseDialMode, describeDialMode } from './mode.ts'
import { RememberedAddresses } from './remembered-addresses.ts'
import { SocketOpener } from './socket-opener.ts'
import type { DialMode } from './mode.ts'
import type { Connected, Dial, SocketOpenerInit } from './socket-opener.ts'
import type { Lingering } from '../connection/lingering.ts'
import type { WireFilter } from '../connection/wire-filter.ts'
import type { PortUse, TCPDialOptions } from '../options.ts'
import type { Connection, Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

export interface DialerInit extends SocketOpenerInit {
  lingering: Lingering

  /** Called with every connection before its upgrade, and the port that it left from */
  onConnection(maConn: SocketConnection, port?: PortUse): void
}

/**
 * Dials and upgrades. If the peer refuses optimistic negotiation, it dials once more.
 */
export class Dialer {
  readonly #init: DialerInit
  readonly #opener: SocketOpener
  readonly #refusals = new RememberedAddresses()

  /** One for all connections: a logger takes 3 KiB. The upgrader gives each a scope of its own */
  readonly #connectionLog: Logger

  constructor (init: DialerInit) {
    this.#init = init
    this.#opener = new SocketOpener(init)
    this.#connectionLog = init.log.newScope('connection')
  }

  /** A dial that is under way opens no socket from now on */
  stop (): void {
    this.#opener.stop()
  }

  /**
   * Dials, and once more from any port if the peer dialed us at the same time.
   *
   * @throws {AbortError} if the signal fires before the connection is upgraded
   * @throws {TCPConnectError} if the network refuses
   * @throws {Error} the upgrader's error if the upgrade fails
   */
  async dial (ma: Multiaddr, options: TCPDialOptions): Promise<Connection> {
    const { log, settings } = this.#init
    let dial: Dial = { ma, settings: dialSettings(settings, options), endpoint: toEndpoint(ma), options, stopping: this.#opener.stopping, maySynWait: maySynWait(options) }

    for (;;) {
      try {
        return await this.#dialTwice(dial)
      } catch (err: any) {
        const otherwise = withoutCauseOf(err, dial)

        if (options.signal.aborted) {
          throw otherwise == null ? err : abortError(options.signal)
        }

        if (otherwise == null) {
          throw err
        }

        log(err instanceof LostCookieError ? 'the cookie for %a is gone, dialing again without data in the SYN' : '%a dialed us at the same time, dialing again from any port', ma)
        options.onProgress?.(new CustomProgressEvent('tcp:redial'))
        dial = otherwise
      }
    }
  }

  /** Dials, and once more with full negotiation if the peer refuses the optimistic one */
  async #dialTwice (dial: Dial): Promise<Connection> {
    const { log, metrics, settings } = this.#init
    const { endpoint, ma, options } = dial
    // the same whether the multiaddr has a peer id or not
    const address = endpointName(endpoint)
    const mode = chooseDialMode(settings, options, this.#refusals.age(address))
    const { negotiation } = mode

    try {
      return await this.#dialOnce(dial, mode)
    } catch (err: any) {
      // the bytes that came decide: the upgrader's error does not say why it failed
      if (negotiation?.state !== 'refused' || options.signal.aborted) {
        throw err
      }

      log('%a refused %s, dialing again to negotiate in full - %e', ma, negotiation.protocol, err)
      metrics?.optimistic?.increment({ redialed: true })
      options.onProgress?.(new CustomProgressEvent('tcp:redial'))

      const connection = await this.#dialOnce(dial, { name: 'redial' })

      // The second dial worked, so optimism was the cause. A peer that has too many connections,
      // say, refuses both dials and is not remembered
      this.#refusals.add(address)

      return connection
    }
  }

  async #dialOnce (dial: Dial, mode: DialMode): Promise<Connection> {
    const { log } = this.#init
    const { ma, options } = dial
    const { negotiation } = mode
    const connected = await this.#opener.open(dial)
    const { late } = connected
    late?.gather(negotiation)

    // only a dial from a listening port may meet one of the peer's
    const collision = connected.port === 'reused' && options.initiator !== false ? new SimultaneousOpen(negotiation) : undefined
    const maConn = this.#toConnection(connected, dial, collision ?? negotiation)

    try {
      log('new outbound connection %a', ma)

      const connection = await this.#upgrade(maConn, options)
      log('negotiation with %a was %s', ma, describeDialMode(mode))
      await late?.connected()

      // the encrypter or the muxer aborted it while the upgrader waited for something else
      if (maConn.status === 'aborted') {
        const error = maConn.closeError ?? new ConnectionClosedError(`The connection to ${ma} was aborted before it was upgraded`)
        this.#abort(connection, error)
        throw error
      }

      return connection
    } catch (err: any) {
      const connectError = late?.failed(err)
      maConn.abort(err)

      if (connectError != null) {
        throw connectError
      }

      if (collision?.state === 'found') {
        throw withCause(new SimultaneousOpenError(`The connection to ${ma} is one that the peer dialed too`), err)
      }

      this.#tellFailure(dial, mode, err)
      throw err
    } finally {
      this.#countOutcome(mode)
    }
  }

  #countOutcome ({ negotiation }: DialMode): void {
    const { metrics } = this.#init

    if (negotiation?.state === 'verified') {
      metrics?.optimistic?.increment({ accepted: true })
    } else if (negotiation?.state === 'refused') {
      metrics?.optimistic?.increment({ refused: true })
    }
  }

  #tellFailure ({ ma, options }: Dial, mode: DialMode, err: Error): void {
    const { log, metrics } = this.#init

    log('negotiation with %a, which failed, was %s', ma, describeDialMode(mode))

    // what is refused is dialed again
    if (mode.negotiation?.state !== 'refused' || options.signal.aborted) {
      metrics?.errors.increment({ outbound_upgrade: true })
      log.error('error upgrading outbound connection - %e', err)
    }
  }

  #toConnection ({ socket, port, late }: Connected, { ma, options, settings }: Dial, filter?: WireFilter): SocketConnection {
    const { lingering, metrics, onConnection } = this.#init

    try {
      const maConn = new SocketConnection({
        socket,
        remoteAddr: ma,
        // muxers take their role from it: if two nodes dial each other at once, one must be the server
        direction: options.initiator === false ? 'inbound' : 'outbound',
        settings: settings.connection,
        lingering,
        filter,
        metrics: late?.events ?? metrics?.events,
        log: this.#connectionLog
      })

      onConnection(maConn, port)

      return maConn
    } catch (err: any) {
      metrics?.errors.increment({ outbound_to_connection: true })
      late?.failed(err)
      socket.destroy(err)
      throw err
    }
  }

  /** Its muxer was made after the connection had ended, and may throw when it tries to send a last message */
  #abort (connection: Connection, error: Error): void {
    try {
      connection.abort(error)
    } catch (err) {
      this.#init.log.error('error aborting outbound connection - %e', err)
    }
  }

  /** Not every await of the upgrade looks at the signal */
  async #upgrade (maConn: SocketConnection, options: TCPDialOptions): Promise<Connection> {
    const { signal, upgrader } = options

    return raceSignal(maConn.upgrade(async () => upgrader.upgradeOutbound(maConn, options)), signal, {
      translateError: () => abortError(signal)
    })
  }
}

/** The same dial without the cause of this error, if the error has one that a dial can do without */
function withoutCauseOf (err: Error, dial: Dial): Dial | undefined {
  if (err instanceof LostCookieError && dial.maySynWait) {
    return { ...dial, maySynWait: false }
  }

  if (err instanceof SimultaneousOpenError && dial.options.reusePort !== false) {
    return { ...dial, options: { ...dial.options, reusePort: false } }
  }
}
