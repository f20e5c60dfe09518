import { InvalidParametersError, TimeoutError } from '@libp2p/interface'
import { CustomProgressEvent } from 'progress-events'
import { TCPConnectError, withCause } from '../errors.ts'
import { printable } from '../printable.ts'
import type { Address } from './address.ts'
import type { TCPMetrics } from './metrics.ts'
import type { FastOpenOutcome, PortUse } from '../connector.ts'
import type { TCPDialOptions } from '../options.ts'
import type { Logger } from '@libp2p/interface'

/** For the log: ports that are not just any port */
const PORTS: Partial<Record<PortUse, string>> = { reused: 'a listening', chosen: 'the chosen' }

/**
 * Tells log, metrics and progress handler how the connect to an address of a dial went: once, however many
 * sockets it took.
 */
export class Report {
  readonly #log: Logger
  readonly #metrics?: TCPMetrics
  readonly #onProgress: TCPDialOptions['onProgress']

  constructor (log: Logger, metrics: TCPMetrics | undefined, onProgress: TCPDialOptions['onProgress']) {
    this.#log = log
    this.#metrics = metrics
    this.#onProgress = onProgress
  }

  /** An attempt begins. Several targets of a name are one connect */
  began (address: Address, socketOptions: object): void {
    if (address.isOpening) {
      return
    }

    address.isOpening = true
    address.since = performance.now()
    this.#onProgress?.(new CustomProgressEvent('tcp:open-connection'))
    this.#log('dialing %a with opts %o', address.ma, socketOptions)
  }

  leftFrom ({ ma }: Address, port: PortUse): void {
    this.#log('the dial to %a left from %s port: %s', ma, PORTS[port] ?? 'any', port)
    this.#metrics?.ports?.increment({ [port]: true })
    this.#onProgress?.(new CustomProgressEvent<PortUse>('tcp:local-port', port))
  }

  /** `outcome` is set with Fast Open */
  opened (address: Address, outcome?: FastOpenOutcome): void {
    const { ma } = address

    address.isOpening = false
    this.#log('connection opened %a', ma)
    this.#metrics?.events.increment({ connect: true })

    if (outcome != null) {
      this.#log('data in the SYN to %a: %s', ma, outcome)
      this.#metrics?.fastOpen?.increment({ [outcome]: true })
    }
  }

  /** Its signal has fired, another address was first, or nobody waits any more */
  aborted (address: Address): void {
    if (address.isOpening) {
      address.isOpening = false
      this.#log('connection aborted %a', address.ma)
      this.#metrics?.events.increment({ abort: true })
    }
  }

  /** @returns what the dial of the address rejects with */
  failed (address: Address, err: Error): Error {
    const { ma, name } = address

    address.isOpening = false

    if (err instanceof TimeoutError) {
      this.#log('connection timeout %a', ma)
      // counts as both, as in @libp2p/tcp
      this.#metrics?.events.increment({ timeout: true, error: true })

      return err
    }

    if (err instanceof InvalidParametersError) {
      return withCause(new InvalidParametersError(printable(`cannot dial ${ma}: ${err.message}`)), err.cause)
    }

    this.#log.error('dial to %a errored - %e', ma, err)
    this.#metrics?.events.increment({ error: true })

    return new TCPConnectError(ma, name, err)
  }

  /** It is dialed once more, by another plan */
  redials ({ ma }: Address, why: Error): void {
    this.#log('dialing %a again: %s - %e', ma, why.message, why.cause)
    this.#onProgress?.(new CustomProgressEvent('tcp:redial'))
  }
}
