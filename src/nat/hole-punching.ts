import { AsyncLocalStorage } from 'node:async_hooks'
import { InvalidParametersError } from '@libp2p/interface'
import { aFunction, checkOptions } from '../check-options.ts'
import { safeLogger } from '../safe-logger.ts'
import { safeCounters } from '../safe-metrics.ts'
import { HolePunches } from './hole-punch.ts'
import { observedOf } from './observed-addresses.ts'
import { withMethods } from './with-methods.ts'
import type { HolePunchComponents, HolePunchEvents } from './hole-punch.ts'
import type { Rule } from '../check-options.ts'
import type { ComponentLogger, Connection, Logger, Metrics, PeerId, Stream, StreamHandler, Topology, Transport } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

export interface HolePunchingInit {
  /** Called when a punch starts, and when it has opened a connection or failed */
  onProgress?(event: HolePunchEvents): void
}

/** The components that the service gets from libp2p, as far as they are replaced or used here */
export interface HolePunchingComponents extends HolePunchComponents {
  peerId: PeerId
  addressManager: { getAddresses(): Multiaddr[] }
  registrar: {
    register(protocol: string, topology: Topology): Promise<string>
    handle(protocol: string, handler: StreamHandler, options?: any): Promise<void>
    unhandle(protocol: string): Promise<void>
  }
  transportManager: HolePunchComponents['transportManager'] & { getTransports(): Transport[] }
  connectionManager: HolePunchComponents['connectionManager'] & { openConnection(target: any, options?: any): Promise<Connection> }
  logger: ComponentLogger
  metrics?: Metrics
}

/** What the service passes when it opens a connection */
interface OpenOptions {
  signal?: AbortSignal
  force?: boolean
  initiator?: boolean
}

const RULES: Record<keyof HolePunchingInit, Rule> = { onProgress: aFunction }

/**
 * Decorates the service of `@libp2p/dcutr`, so that it punches holes through NATs over TCP: it
 * offers the public addresses at which peers see a listening port, and dials the punch
 * in its role and from that port. Needs `tcp({ reusePort: reusePort() })`.
 *
 * @example
 *
 * ```TypeScript
 * import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
 * import { dcutr } from '@libp2p/dcutr'
 * import { identify } from '@libp2p/identify'
 * import { createLibp2p } from 'libp2p'
 * import { tcp } from 'libp2p-fast-tcp'
 * import { holePunching, reusePort } from 'libp2p-fast-tcp/nat'
 *
 * const node = await createLibp2p({
 *   addresses: { listen: ['/ip4/0.0.0.0/tcp/4001', '/p2p-circuit'] },
 *   transports: [tcp({ reusePort: reusePort() }), circuitRelayTransport()],
 *   services: {
 *     identify: identify(),
 *     dcutr: holePunching(dcutr())
 *   }
 * })
 * ```
 *
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name; on creation of the node, if the
 * factory makes no service; when the node starts, if it has no transport with `reusePort`
 */
export function holePunching <Components, Service> (factory: (components: Components) => Service, init?: HolePunchingInit): (components: Components & HolePunchingComponents) => Service {
  checkOptions('holePunching()', init, RULES)

  return components => {
    const service = typeof factory === 'function' ? factory(withMethods(components, decorate(components, init?.onProgress)) as Components & HolePunchingComponents) : undefined

    // a function where `dcutr` stands for `dcutr()`
    if (typeof service !== 'object' || service == null) {
      throw new InvalidParametersError('holePunching() takes a factory of a service, such as dcutr()')
    }

    return service
  }
}

function decorate (components: HolePunchingComponents, onProgress: HolePunchingInit['onProgress']): Partial<HolePunchingComponents> {
  const log: Logger = safeLogger(components.logger).forComponent('libp2p:tcp:hole-punching')
  const metrics = safeCounters(components.metrics?.registerCounterGroup('libp2p_tcp_hole_punches_total', {
    label: 'outcome',
    help: 'Total count of hole punches by outcome'
  }))
  const punches = new HolePunches({ components, log, metrics, onProgress })

  /** The relayed connection that the service is at work on, wherever it awaits something */
  const relayed = new AsyncLocalStorage<Connection>()

  return {
    addressManager: withMethods(components.addressManager, {
      getAddresses: () => withObserved(components)
    }),
    registrar: withMethods(components.registrar, {
      register: async (protocol, topology) => {
        assertObserving(components)
        punches.start()

        return components.registrar.register(protocol, {
          ...topology,
          onConnect: (peer, connection) => {
            relayed.run(connection, () => { topology.onConnect?.(peer, connection) })
          }
        })
      },
      handle: async (protocol, handler, options) => components.registrar.handle(protocol, async (stream: Stream, connection: Connection) => (
        relayed.run(connection, async () => handler(stream, connection))
      ), options),
      unhandle: async protocol => {
        punches.stop()
        await components.registrar.unhandle(protocol)
      }
    }),
    connectionManager: withMethods(components.connectionManager, {
      openConnection: async (target: Multiaddr | Multiaddr[] | PeerId, options: OpenOptions = {}) => {
        const over = relayed.getStore()

        // The end that was dialed over the relay first tries the addresses that the other end
        // announces. That is an ordinary dial
        if (over == null || options.force !== true || !Array.isArray(target) || (over.direction === 'inbound' && options.initiator !== false)) {
          return components.connectionManager.openConnection(target, options)
        }

        return punches.dial(over, target, options.initiator !== false, options.signal)
      }
    })
  }
}

/** Verified addresses, and those at which peers see a listening port. Behind a NAT nobody can verify the latter */
function withObserved ({ addressManager, peerId, transportManager }: HolePunchingComponents): Multiaddr[] {
  const addresses = addressManager.getAddresses()
  const known = new Set(addresses.map(String))
  const observed = transportManager.getTransports()
    .flatMap(transport => observedOf.get(transport)?.best() ?? [])
    .map(address => address.encapsulate(`/p2p/${peerId}`))
    .filter(address => !known.has(address.toString()))

  return [...addresses, ...observed]
}

function assertObserving ({ transportManager }: HolePunchingComponents): void {
  if (!transportManager.getTransports().some(transport => observedOf.has(transport))) {
    throw new InvalidParametersError('holePunching() needs tcp({ reusePort: reusePort() }) of libp2p-fast-tcp among the transports')
  }
}
