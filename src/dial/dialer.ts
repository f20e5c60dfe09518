import net from 'node:net'
import { MAX_TIMEOUT } from '../check-options.ts'
import { Recent } from '../recent.ts'
import { dialSettings } from '../settings.ts'
import { Address } from './address.ts'
import { Attempt } from './attempt.ts'
import { Experience } from './experience.ts'
import { Race } from './race.ts'
import { rank } from './rank.ts'
import { Report } from './report.ts'
import { Semaphore } from './semaphore.ts'
import { SiblingFinder } from './siblings.ts'
import type { DialerParts, RaceInit } from './context.ts'
import type { Siblings } from './siblings.ts'
import type { TCPDialOptions } from '../options.ts'
import type { Connection, ConnectionGater } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** How long one address may be without a connection until the next is dialed too, in ms: RFC 8305, and Node's own default */
const ATTEMPT_DELAY = 250

/** How many addresses of a peer are dialed, and how many a name may lead to: as many as libp2p dials by default (`maxPeerAddrsToDial`) */
const MAX_TARGETS = 25

/** How many targets a name has at least, in any race: one of each family */
const LEAST_TARGETS = 2

/** How many sockets of a node may wait for an answer beside the first one of each dial */
const MAX_WAITING = 32

/**
 * If another dial needs the place, an attempt must have waited this long, in ms. It covers the kernel's
 * second SYN, a second after the first, and a long way there and back
 */
const PATIENCE = 1_500

/** How many targets are remembered that refused an optimistic dial, and for how long, in ms: peers get updated */
const REFUSALS = 1_000
const REFUSAL_AGE = 60 * 60_000

/** How many names of one dial are looked up at a time. Nothing ends a look-up, and all dials of the process have two threads for them */
const MAX_LOOK_UPS = 2

export interface DialerInit extends Omit<DialerParts, 'connectionLog' | 'refusals'> {
  /** Read when it is needed: libp2p sets its components one by one */
  gater(): ConnectionGater | undefined
}

/** The addresses of a peer that libp2p dials one after another */
interface Group {
  state: 'idle' | 'racing' | 'over'
  hasRaced: boolean
  addresses: Map<Multiaddr, Address>

  /** Those of which a race is to make attempts, in their order */
  attempts: Attempt[]
}

/**
 * Dials. It races the addresses of a peer where libp2p dials them one after another: the dial of one address tries its siblings too, if
 * it takes long. When libp2p comes to a sibling that has failed, that fails at once.
 */
export class Dialer {
  readonly #parts: DialerParts
  readonly #gater: DialerInit['gater']
  readonly #finder = new SiblingFinder()
  readonly #groups = new WeakMap<Siblings, Group>()
  readonly #experience = new Experience()
  readonly #places = new Semaphore(MAX_WAITING, PATIENCE)

  /** Aborted when the transport stops; a new one serves the dials after the next start */
  #stopping = new AbortController()

  constructor ({ gater, ...init }: DialerInit) {
    this.#gater = gater
    // one logger for all connections: it takes 3 KiB. The upgrader gives each a scope of its own
    this.#parts = { ...init, refusals: new Recent(REFUSALS, REFUSAL_AGE), connectionLog: init.log.newScope('connection') }
  }

  /** libp2p asks whether this transport dials an address: they may be those of one dial */
  asked (ma: Multiaddr): void {
    if (this.#parts.settings.attemptDelay !== false) {
      this.#finder.ask(ma)
    }
  }

  /** Dials are possible again */
  start (): void {
    if (this.#stopping.signal.aborted) {
      this.#stopping = new AbortController()
    }
  }

  /** Dials that are under way end, and new ones fail: nobody would wait for their sockets */
  stop (): void {
    this.#stopping.abort()
  }

  /**
   * @throws {AbortError} if the signal fires before the connection is upgraded
   * @throws {TCPConnectError} if the network refuses, or the transport stops
   * @throws {TimeoutError} if the `timeout` option is set and passes
   * @throws {InvalidParametersError} if the address or an option is invalid
   * @throws {Error} the upgrader's error if the upgrade fails
   */
  async dial (ma: Multiaddr, options: TCPDialOptions): Promise<Connection> {
    const siblings = this.#finder.take(ma)

    // libp2p's dial queue passes no `initiator`: hole punches do
    if (siblings == null || this.#parts.settings.attemptDelay === false || options.initiator != null) {
      return this.#dialAlone(ma, options)
    }

    const group = this.#groupOf(siblings, ma)
    const driver = group.addresses.get(ma)

    if (driver?.error != null) {
      throw driver.error
    }

    // libp2p may dial others than those that race
    if (driver == null || group.state !== 'idle' || !group.attempts.some(({ address }) => address === driver)) {
      return this.#dialAlone(ma, options)
    }

    return this.#raceOf(siblings, group, driver, options)
  }

  async #dialAlone (ma: Multiaddr, options: TCPDialOptions): Promise<Connection> {
    const driver = new Address(ma)

    return this.#race(driver, [new Attempt(driver, 0)], options, MAX_TARGETS).run()
  }

  async #raceOf ({ peer }: Siblings, group: Group, driver: Address, options: TCPDialOptions): Promise<Connection> {
    const { denyDialMultiaddr } = this.#gater() ?? {}
    // in a second race those come first that libp2p wants next
    const attempts = group.hasRaced ? group.attempts.toSorted((one, other) => Number(other.address === driver) - Number(one.address === driver)) : group.attempts
    // the peer has chosen the names, and what they lead to
    const maxTargets = Math.max(LEAST_TARGETS, Math.floor(MAX_TARGETS / attempts.length))
    const race = this.#race(driver, attempts, options, maxTargets, {
      peer,
      experience: this.#experience,
      isSuspicious: group.hasRaced,
      mayDial: denyDialMultiaddr == null ? undefined : async ma => await this.#gater()?.denyDialMultiaddr?.(ma) !== true
    })

    group.state = 'racing'

    try {
      const connection = await race.run()
      group.state = 'over'

      return connection
    } catch (err) {
      // libp2p comes to the next address
      group.state = 'idle'
      group.hasRaced = true
      group.attempts = race.left.filter(({ address }) => address.error == null)
      throw err
    }
  }

  #race (driver: Address, attempts: Attempt[], options: TCPDialOptions, maxTargets: number, siblings?: RaceInit['siblings']): Race {
    const { log, metrics, settings } = this.#parts
    const { attemptDelay } = settings
    const dial = { parts: this.#parts, settings: dialSettings(settings, options), options, report: new Report(log, metrics, options.onProgress) }

    return new Race(attempts, {
      dial,
      driver,
      siblings,
      delay: typeof attemptDelay === 'number' ? attemptDelay : ATTEMPT_DELAY,
      nameDelay: Math.min(dial.settings.socket.autoSelectFamilyAttemptTimeout ?? net.getDefaultAutoSelectFamilyAttemptTimeout(), MAX_TIMEOUT / 2),
      maxTargets,
      stopping: this.#stopping.signal,
      places: this.#places,
      lookUps: new Semaphore(MAX_LOOK_UPS)
    })
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
    const { attemptDelay } = this.#parts.settings
    const all = [first, ...addresses].map(ma => new Address(ma))
    const byKey = new Map(all.toReversed().map(address => [address.key, address]))
    const driver = all[0]
    const ranked = rank(
      [...new Set(all.map(({ key }) => byKey.get(key) as Address))].map(address => ({ address, ...this.#experience.factsOf(peer, address.key, address.endpoint) })),
      typeof attemptDelay === 'number' ? attemptDelay : ATTEMPT_DELAY,
      MAX_TARGETS
    )

    // what libp2p dials first is among them in any case
    if (!ranked.some(({ address }) => address === driver)) {
      ranked[MAX_TARGETS - 1].address = driver
    }

    return {
      state: 'idle',
      hasRaced: false,
      addresses: new Map(all.map(({ key, ma }) => [ma, byKey.get(key) as Address])),
      attempts: ranked.map(({ address, at }) => new Attempt(address, at))
    }
  }
}
