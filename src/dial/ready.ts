import { raceSignal } from 'race-signal'
import { deniedError } from './errors.ts'
import { isTarget, targetsOf } from './targets.ts'
import type { Attempt } from './attempt.ts'
import type { Semaphore } from './semaphore.ts'
import type { HostEndpoint } from '../addresses.ts'
import type { Target } from '../connector.ts'
import type { TCPDialSocketOptions } from '../options.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/*
 * What an attempt waits for before it connects. Each wait ends with the attempt's signal.
 */

/** @throws {ConnectionFailedError} if the connection gater denies the address of the attempt */
export async function askGater (attempt: Attempt, mayDial: (ma: Multiaddr) => Promise<boolean>): Promise<void> {
  const { address, signal } = attempt

  attempt.state = 'asking'

  if (!await raceSignal(mayDial(address.ma), signal)) {
    throw deniedError(address.ma)
  }

  address.isAllowed = true
}

/**
 * Finds the target of an attempt. A name may lead to several.
 *
 * @returns the others, `limit` targets in all at most
 */
export async function findTarget (attempt: Attempt, options: TCPDialSocketOptions, lookUps: Semaphore, limit: number): Promise<Target[]> {
  const { address: { endpoint }, signal } = attempt

  if (attempt.target != null) {
    return []
  }

  if (isTarget(endpoint)) {
    attempt.target = endpoint as Target

    return []
  }

  attempt.state = 'looking up'

  const turn = Promise.withResolvers<void>()
  const release = lookUps.take(turn.resolve)

  try {
    await raceSignal(turn.promise, signal)
    const [target, ...others] = (await targetsOf(endpoint as HostEndpoint, options, signal)).slice(0, limit)

    attempt.target = target

    return others
  } finally {
    release()
  }
}

/** Waits for a place among those that wait for an answer */
export async function takePlace (attempt: Attempt, places: Semaphore): Promise<void> {
  const turn = Promise.withResolvers<void>()

  attempt.state = 'queued'
  attempt.releasePlace = places.take(turn.resolve, () => { attempt.evict() })
  attempt.goWithoutPlace = () => {
    attempt.releasePlace?.()
    turn.resolve()
  }

  await raceSignal(turn.promise, attempt.signal)
}
