import { unfinishedError } from './errors.ts'
import { hasHadItsTime, isSilent } from './patience.ts'
import type { Attempt } from './attempt.ts'
import type { Siblings } from './context.ts'
import type { Schedule } from './schedule.ts'
import type { Logger } from '@libp2p/interface'

/** Attempts in these states show something of their address */
const BEGUN: Array<Attempt['state']> = ['looking up', 'connecting', 'upgrading']

/** What a race of several addresses of a peer tells the log, and later dials */
export class PeerNotes {
  readonly #siblings: Siblings
  readonly #schedule: Schedule
  readonly #log: Logger

  constructor (siblings: Siblings, schedule: Schedule, log: Logger) {
    this.#siblings = siblings
    this.#schedule = schedule
    this.#log = log
  }

  begins ({ address: { ma } }: Attempt): void {
    if (this.#schedule.started > 1) {
      this.#log('no connection after %d ms, dialing %a too', Math.round(this.#schedule.age), ma)
    }
  }

  wins ({ address: { endpoint, key, ma } }: Attempt): void {
    const { experience, peer } = this.#siblings
    const { age, started } = this.#schedule

    experience.reached(peer, key, endpoint)

    if (started > 1) {
      this.#log('the dial to %s took %d ms and %d attempts, %a was first', peer, Math.round(age), started, ma)
    }
  }

  fails ({ address: { endpoint, key, ma }, since }: Attempt, error: Error): void {
    const { experience, peer } = this.#siblings

    this.#log('%a failed after %d ms - %e', ma, Math.round(performance.now() - since), error)
    experience.failed(peer, key, endpoint, error)
  }

  /** It is ended, and may be made again */
  isGivenUp (attempt: Attempt): void {
    const { experience, peer } = this.#siblings

    if (BEGUN.includes(attempt.state) && isSilent(attempt)) {
      experience.wasSilent(peer, attempt.address.key)
    }
  }

  /** The signal has fired. Those that have been silent for as long as the race have failed */
  isAborted (underWay: Attempt[]): void {
    const { age, started } = this.#schedule

    for (const attempt of underWay) {
      if (BEGUN.includes(attempt.state) && hasHadItsTime(attempt, age)) {
        attempt.address.error ??= unfinishedError(attempt)
      }
    }

    this.#log('the dial to %s was aborted after %d ms and %d attempts', this.#siblings.peer, Math.round(age), started)
  }
}
