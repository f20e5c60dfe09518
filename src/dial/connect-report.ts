import { InvalidParametersError } from '@libp2p/interface'
import { endpointName } from '../addresses.ts'
import { TCPConnectError, withCause } from '../errors.ts'
import { printable } from '../printable.ts'
import type { ConnectBounds } from './bounds.ts'
import type { Endpoint } from '../addresses.ts'
import type { FastOpenOutcome } from '../connector.ts'
import type { TCPMetrics } from './dialer-metrics.ts'
import type { Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

export interface ConnectReportInit {
  ma: Multiaddr

  /** What the multiaddr says */
  endpoint: Endpoint
  bounds: ConnectBounds
  log: Logger
  metrics?: TCPMetrics
}

/**
 * Tells the log and the metrics how the first phase of a dial ended: once, however many sockets it took.
 */
export class ConnectReport {
  readonly #init: ConnectReportInit

  constructor (init: ConnectReportInit) {
    this.#init = init
  }

  /** `outcome` is set with Fast Open */
  opened (outcome?: FastOpenOutcome): void {
    const { log, ma, metrics } = this.#init

    log('connection opened %a', ma)
    metrics?.events.increment({ connect: true })

    if (outcome != null) {
      log('data in the SYN to %a: %s', ma, outcome)
      metrics?.fastOpen?.increment({ [outcome]: true })
    }
  }

  /** @returns what the dial rejects with */
  failed (err: Error): Error {
    const { bounds, endpoint, log, ma, metrics } = this.#init

    switch (bounds.endedBy) {
      case 'signal':
        log('connection aborted %a', ma)
        metrics?.events.increment({ abort: true })
        return bounds.signal.reason
      case 'timeout':
        log('connection timeout %a', ma)
        // counts as both, as in @libp2p/tcp
        metrics?.events.increment({ timeout: true, error: true })
        return bounds.signal.reason
      default:
    }

    if (err instanceof InvalidParametersError) {
      return withCause(new InvalidParametersError(printable(`cannot dial ${ma}: ${err.message}`)), err.cause)
    }

    log.error('dial to %a errored - %e', ma, err)
    metrics?.events.increment({ error: true })

    return new TCPConnectError(ma, endpointName(endpoint), err)
  }
}
