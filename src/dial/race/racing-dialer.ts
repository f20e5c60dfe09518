import { Queue } from '@libp2p/utils'
import { endpointName, toEndpoint } from '../../addresses.ts'
import { ATTEMPT_DELAY, MAX_TARGETS } from '../stagger.ts'
import { newEntrant } from './entrant.ts'
import { Experience } from './experience.ts'
import { Places } from './places.ts'
import { Race } from './race.ts'
import { rank } from './ranking.ts'
import { SiblingFinder } from './siblings.ts'
import type { Entrant } from './entrant.ts'
import type { DialHooks, NameLimits } from './init.ts'
import type { Siblings } from './siblings.ts'
import type { Endpoint } from '../../addresses.ts'
import type { TCPDialOptions } from '../../options.ts'
import type { Connection, ConnectionGater, Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** How many targets a name has at least, in any race: one of each family */
const LEAST_TARGETS = 2

/**
 * How many names of one dial are looked up at a time. A server of the peer's may answer none, and getaddrinfo then takes
 * one of the two threads that libuv has for all look-ups of the process, for seconds, whatever became of the dial
 */
const MAX_LOOK_UPS = 2

export interface RacingDialerInit {
  /** How long one address may be without a connection until the next is dialed too, in ms. `false`: libp2p dials one after another. By default {@link ATTEMPT_DELAY} */
  attemptDelay?: number | false
  log: Logger

  /** Read when it is needed: libp2p sets its components one by one */
  gater(): ConnectionGater | undefined

  /** Dials one address */
  dial(ma: Multiaddr, options: TCPDialOptions, hooks?: DialHooks & NameLimits): Promise<Connection>
}

/** What became of the addresses of one dial */
interface Group {
  state: 'idle' | 'racing' | 'over'
  hasRaced: boolean
  lookUps: NameLimits['lookUps']
  entrants: Map<Multiaddr, Entrant>

  /** In the order in which they are dialed */
  order: Entrant[]
}

/**
 * Dials the addresses of a peer at once where libp2p dials them one after another ("happy eyeballs", RFC 8305). The dial of
 * one address tries its siblings too, if it takes long. When libp2p comes to a sibling that has failed, that fails at once.
 */
export class RacingDialer {
  readonly #init: RacingDialerInit
  readonly #finder = new SiblingFinder()
  readonly #groups = new WeakMap<Siblings, Group>()
  readonly #experience = new Experience()
  readonly #places = new Places()
  #stopping = new AbortController()

  constructor (init: RacingDialerInit) {
    this.#init = init
  }

  /** libp2p asks whether this transport dials an address: they may be those of one dial */
  asked (ma: Multiaddr): void {
    if (this.#init.attemptDelay !== false) {
      this.#finder.ask(ma)
    }
  }

  stop (): void {
    this.#stopping.abort()
    this.#stopping = new AbortController()
  }

  async dial (ma: Multiaddr, options: TCPDialOptions): Promise<Connection> {
    const { attemptDelay = ATTEMPT_DELAY, dial } = this.#init
    const siblings = this.#finder.take(ma)

    // libp2p's dial queue passes no `initiator`: hole punches do
    if (siblings == null || attemptDelay === false || options.initiator != null) {
      return dial(ma, options)
    }

    const group = this.#groupOf(siblings, ma)
    const driver = group.entrants.get(ma)

    // libp2p may dial others than those that race
    if (driver == null || group.state !== 'idle' || !group.order.includes(driver)) {
      return dial(ma, options)
    }

    if (driver.error != null) {
      throw driver.error
    }

    const left = group.order.filter(({ error }) => error == null)
    // in a second race those come first that libp2p wants next
    const entrants = group.hasRaced ? [driver, ...left.filter(entrant => entrant !== driver)] : left

    group.state = 'racing'

    try {
      const connection = await this.#race(siblings, group, entrants, driver, attemptDelay, options)
      group.state = 'over'

      return connection
    } catch (err) {
      // libp2p comes to the next address
      group.state = 'idle'
      group.hasRaced = true
      throw err
    }
  }

  async #race ({ peer }: Siblings, { hasRaced, lookUps }: Group, entrants: Entrant[], driver: Entrant, delay: number, options: TCPDialOptions): Promise<Connection> {
    const { dial, gater, log } = this.#init
    const { denyDialMultiaddr } = gater() ?? {}
    // the peer has chosen the names, and what they lead to
    const maxTargets = Math.max(LEAST_TARGETS, Math.floor(MAX_TARGETS / entrants.length))

    return new Race({
      peer,
      driver,
      entrants,
      delay,
      isSuspicious: hasRaced,
      signal: options.signal,
      stopping: this.#stopping.signal,
      places: this.#places,
      experience: this.#experience,
      log,
      mayDial: denyDialMultiaddr == null ? undefined : async ma => await gater()?.denyDialMultiaddr?.(ma) !== true,
      dial: async (ma, signal, hooks) => dial(ma, { ...options, signal }, { ...hooks, maxTargets, lookUps })
    }).run()
  }

  #groupOf (siblings: Siblings, first: Multiaddr): Group {
    let group = this.#groups.get(siblings)

    if (group == null) {
      group = this.#newGroup(siblings, first)
      this.#groups.set(siblings, group)
    }

    return group
  }

  /** The first is what libp2p's sorter, or the user's, has put first */
  #newGroup ({ peer, addresses }: Siblings, first: Multiaddr): Group {
    const entrants = new Map<Multiaddr, Entrant>()
    const named = new Map<string, Entrant>()

    for (const ma of [first, ...addresses]) {
      const endpoint = toEndpoint(ma)
      const name = nameOf(endpoint)
      const entrant = named.get(name) ?? newEntrant(ma, endpoint, name)

      named.set(name, entrant)
      entrants.set(ma, entrant)
    }

    const ranked = rank([...named.values()].map(entrant => ({
      ...this.#experience.factsOf(peer, entrant.name, entrant.endpoint),
      entrant
    }))).map(({ entrant }) => entrant)

    const [driver] = named.values()
    const order = ranked.slice(0, MAX_TARGETS)

    // what libp2p dials first is among them in any case
    if (!order.includes(driver)) {
      order[MAX_TARGETS - 1] = driver
    }

    return { state: 'idle', hasRaced: false, lookUps: new Queue({ concurrency: MAX_LOOK_UPS }), entrants, order }
  }
}

/** `/dns4` and `/dns6` of a host lead to different targets */
function nameOf (endpoint: Endpoint): string {
  const name = endpointName(endpoint)

  return 'path' in endpoint ? name : `${endpoint.family} ${name}`
}
