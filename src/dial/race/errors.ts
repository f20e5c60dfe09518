import { AbortError, ConnectionFailedError } from '@libp2p/interface'
import { TCPConnectError, abortError } from '../../errors.ts'
import { printable } from '../../printable.ts'
import type { Attempt, Entrant } from './entrant.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/** Why an attempt is ended that is not needed any more */
export function abandonedError (): AbortError {
  return new AbortError('Another address of the peer was first')
}

/** An address that has not answered, or not gone on with the upgrade. Its code is that of a connect that the kernel gives up */
export function silentError ({ ma, name }: Entrant, { since, connected }: Attempt, reason?: string): TCPConnectError {
  const waited = Math.round(performance.now() - (connected ?? since))
  const what = connected == null ? `no answer for ${waited} ms` : `connected, and not upgraded for ${waited} ms`

  return new TCPConnectError(ma, name, Object.assign(new Error(reason == null ? what : `${what}, and ${reason}`), { code: 'ETIMEDOUT' }))
}

/** The connection gater has changed its mind: libp2p has asked it too, and does not dial what is denied */
export function deniedError (ma: Multiaddr): ConnectionFailedError {
  return new ConnectionFailedError(printable(`The connection gater denies ${ma}`))
}

/** The signal of the race has fired. With what each of the addresses has done until then */
export function abortedError (signal: AbortSignal, entrants: Entrant[]): Error {
  const error = abortError(signal)

  if (entrants.length > 0) {
    error.message += printable(`: ${entrants.map(describe).join('; ')}`)
  }

  return error
}

function describe ({ ma, state, error, attempt }: Entrant): string {
  if (error != null) {
    return `${ma}: ${error.message}`
  }

  return `${ma}: ${attempt == null ? 'not dialed' : `${state} for ${Math.round(performance.now() - attempt.since)} ms`}`
}
