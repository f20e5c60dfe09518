import { AbortError, ConnectionFailedError, NotStartedError, TimeoutError } from '@libp2p/interface'
import { TCPConnectError, abortError } from '../errors.ts'
import { printable } from '../printable.ts'
import type { Address } from './address.ts'
import type { Attempt } from './attempt.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/** Why an attempt is ended that is not needed any more */
export function abandonedError (): AbortError {
  return new AbortError('Another address of the peer was first')
}

/** The connection gater has changed its mind: libp2p has asked it too, and does not dial what is denied */
export function deniedError (ma: Multiaddr): ConnectionFailedError {
  return new ConnectionFailedError(printable(`The connection gater denies ${ma}`))
}

export function stoppedError ({ ma, name }: Address): TCPConnectError {
  return new TCPConnectError(ma, name, new NotStartedError('The transport was stopped'))
}

/** An address that has not answered, or not gone on with the upgrade */
export function unfinishedError ({ address: { ma, name }, connectedAt, since }: Attempt): Error {
  const waited = Math.round(performance.now() - (connectedAt ?? since))

  if (connectedAt != null) {
    return new TimeoutError(printable(`${name} connected, and was not upgraded for ${waited} ms`))
  }

  // the code of a connect that the kernel gives up
  return new TCPConnectError(ma, name, Object.assign(new Error(`no answer for ${waited} ms`), { code: 'ETIMEDOUT' }))
}

/** The signal of a dial has fired. With what each of its addresses has done until then, if it was a race */
export function abortedError (signal: AbortSignal, addresses: Iterable<Address>, underWay: Attempt[]): Error {
  const error = abortError(signal)
  const told = [...addresses].map(address => describe(address, underWay.find(attempt => attempt.address === address)))

  if (told.length > 0) {
    error.message += printable(`: ${told.join('; ')}`)
  }

  return error
}

function describe ({ error, ma }: Address, attempt?: Attempt): string {
  if (error != null || attempt == null) {
    return `${ma}: ${error?.message ?? 'not dialed'}`
  }

  return `${ma}: ${attempt.state} for ${Math.round(performance.now() - attempt.since)} ms`
}

/** The error of a name whose targets have all failed, with the code of the first, as Node has it */
export function asOne (errors: NodeJS.ErrnoException[]): Error {
  return errors.length === 1 ? errors[0] : Object.assign(new AggregateError(errors), { code: errors[0].code })
}
