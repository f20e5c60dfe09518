import { endpointName, toEndpoint } from '../addresses.ts'
import type { Endpoint } from '../addresses.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/** One address of a dial, and what became of it */
export class Address {
  readonly ma: Multiaddr
  readonly endpoint: Endpoint

  /** What the errors call it: a host and a port, or a path */
  readonly name: string

  /** The same for all multiaddrs that lead to the same targets: those of `/dns4` and `/dns6` differ */
  readonly key: string

  /** The connection gater has allowed it */
  isAllowed = false

  /** Whether a connect to it has begun, and has not connected or failed */
  isOpening = false

  /** When that began, by the clock of `performance.now()` */
  since = 0

  /** How many of its attempts are under way: a name may lead to several targets */
  underWay = 0

  /** Why those of its targets could not be connected to that were tried */
  readonly errors: Error[] = []

  /** Why it has failed for good */
  error?: Error

  /**
   * @throws {InvalidParametersError} if it is neither TCP nor a unix socket
   */
  constructor (ma: Multiaddr) {
    this.ma = ma
    this.endpoint = toEndpoint(ma)
    this.name = endpointName(this.endpoint)
    this.key = 'path' in this.endpoint ? this.name : `${this.endpoint.family} ${this.name}`
  }
}
