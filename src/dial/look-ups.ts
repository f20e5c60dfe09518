import dns from 'node:dns'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import { InvalidParametersError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { withCause } from '../errors.ts'
import { Recent } from '../recent.ts'
import type { LookupAddress, LookupAllOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** How many look-ups are under way at once. Nothing ends one that has begun: where a server is silent it takes 10 s or more */
const PLACES = placesFor(process.env.UV_THREADPOOL_SIZE)

/** Names whose look-up takes long have so many of the places at most */
const SLOW_PLACES = Math.max(1, Math.floor(PLACES / 2))

/** A look-up that takes longer is slow, in ms */
const SLOW = 1_000

/** For how long a name counts as slow, in ms, and how many names do */
const SLOW_AGE = 10 * 60_000
const SLOW_NAMES = 1_000

const HOSTS_FILE = process.platform === 'win32' ? `${process.env.SystemRoot}\\System32\\drivers\\etc\\hosts` : '/etc/hosts'

interface LookUp {
  readonly host: string
  readonly options: LookupAllOptions
  readonly found: PromiseWithResolvers<unknown[]>

  /** How many wait for the result. Without any it does not begin */
  waiters: number

  /** When it began, by the clock of `performance.now()` */
  since?: number
}

/**
 * Look-ups by the operating system (getaddrinfo). Those of the same name that run at the same time are one. Slow names
 * leave places to others, and no name in the hosts file waits for a place.
 */
class LookUps {
  /** Those that run, and those that wait for a place. The oldest first */
  readonly #lookUps = new Map<string, LookUp>()
  readonly #slow = new Recent<true>(SLOW_NAMES, SLOW_AGE)

  /**
   * @throws {InvalidParametersError} if Node does not take the options
   * @throws {Error} what the look-up says, or the signal's reason
   */
  async find (host: string, options: LookupAllOptions, signal: AbortSignal): Promise<unknown[]> {
    const key = `${host} ${options.family} ${options.hints}`
    const lookUp = this.#lookUps.get(key) ?? this.#add(key, host, options)

    lookUp.waiters++
    this.#next()

    try {
      const listed = lookUp.since == null ? await fromHostsFile(host, options.family) : []

      return listed.length > 0 ? listed : await raceSignal(lookUp.found.promise, signal, { translateError: () => signal.reason })
    } finally {
      if (--lookUp.waiters === 0 && lookUp.since == null) {
        this.#lookUps.delete(key)
      }
    }
  }

  #add (key: string, host: string, options: LookupAllOptions): LookUp {
    const lookUp: LookUp = { host, options, found: Promise.withResolvers(), waiters: 0 }

    // nobody may wait any more when it fails
    lookUp.found.promise.catch(() => {})
    this.#lookUps.set(key, lookUp)

    return lookUp
  }

  /** Begins those that there are places for */
  #next (): void {
    const running = [...this.#lookUps].filter(([, { since }]) => since != null)
    let free = PLACES - running.length
    let freeForSlow = Math.min(free, SLOW_PLACES - running.filter(entry => this.#isSlow(...entry)).length)

    for (const [key, lookUp] of this.#lookUps) {
      const isSlow = this.#isSlow(key, lookUp)

      if (lookUp.since == null && (isSlow ? freeForSlow : free) > 0) {
        free--
        freeForSlow = Math.min(free, freeForSlow - (isSlow ? 1 : 0))
        void this.#run(key, lookUp)
      }
    }
  }

  async #run (key: string, lookUp: LookUp): Promise<void> {
    const { found, host, options } = lookUp

    lookUp.since = performance.now()

    try {
      found.resolve(await lookUpBy(dns.lookup, host, options))
    } catch (err) {
      found.reject(err)
    }

    this.#slow.delete(key)

    if (this.#isSlow(key, lookUp)) {
      this.#slow.set(key, true)
    }

    this.#lookUps.delete(key)
    this.#next()
  }

  /** It takes long, or did so the last time */
  #isSlow (key: string, { since = Infinity }: LookUp): boolean {
    return this.#slow.get(key) === true || performance.now() - since > SLOW
  }
}

/** One for all transports: the threads are those of the process */
export const lookUps = new LookUps()

/**
 * @throws {InvalidParametersError} if the function does not take the options
 * @throws {Error} what it says
 */
export async function lookUpBy (lookup: LookupFunction, host: string, options: LookupAllOptions): Promise<unknown[]> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown[]>()

  try {
    lookup(host, options, (err, found: string | LookupAddress[]) => {
      if (err != null) {
        reject(err)
      } else {
        // the caller's own look-up may ignore `all`
        resolve(Array.isArray(found) ? found.map(entry => entry?.address) : [found])
      }
    })
  } catch (err: any) {
    throw withCause(new InvalidParametersError(err.message), err)
  }

  return promise
}

/** The addresses of a family that the hosts file has for a name */
async function fromHostsFile (host: string, family: unknown): Promise<string[]> {
  // a system may have none
  const lines = (await readFile(HOSTS_FILE, 'utf8').catch(() => '')).split('\n')

  return lines
    .map(line => line.replace(/#.*/, '').trim().split(/\s+/))
    .filter(([address, ...names]) => [0, net.isIP(address)].includes(family as number) && names.some(name => name.toLowerCase() === host.toLowerCase()))
    .map(([address]) => address)
}

/** libuv lets look-ups have half of its threads. What is no number is one thread */
export function placesFor (threads = '4'): number {
  return Math.max(1, Math.floor(((Number.parseInt(threads, 10) || 1) + 1) / 2))
}
