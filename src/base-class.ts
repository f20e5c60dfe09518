import { AbstractMultiaddrConnection } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { IncompatibleUtilsError } from './errors.ts'
import type { Logger } from '@libp2p/interface'
import type { SendResult } from '@libp2p/utils'
import type { Uint8ArrayList } from 'uint8arraylist'

/** Versions of `@libp2p/utils` whose base class fits, as package.json has them */
const UTILS_VERSIONS = '^7.4.1'

/** Members of the base class that are read or called, and what `typeof` says of them. Not all are documented */
const USED: Readonly<Record<string, string>> = {
  abort: 'function',
  dispatchEvent: 'function',
  dispatchReadBuffer: 'function',
  listenerCount: 'function',
  maybeDispatchEnd: 'function',
  onData: 'function',
  onRemoteCloseWrite: 'function',
  onRemoteReset: 'function',
  onTransportClosed: 'function',
  processSendQueue: 'function',
  readBuffer: 'object',
  readBufferLength: 'number',
  readStatus: 'string',
  remoteReadStatus: 'string',
  remoteWriteStatus: 'string',
  safeDispatchEvent: 'function',
  send: 'function',
  sendingData: 'boolean',
  status: 'string',
  timeline: 'object',
  writableNeedsDrain: 'boolean',
  writeBuffer: 'object',
  writeStatus: 'string'
}

/** Methods of a subclass that the base class calls */
const CALLED = ['dispatchEvent', 'dispatchReadBuffer', 'sendData', 'sendPause', 'sendReset', 'sendResume']

let missing: string[] | undefined

/**
 * Checks once whether libp2p's base class of a connection has what {@link Probe} and our own connection need of it.
 *
 * @throws {IncompatibleUtilsError} if it has not
 */
export function assertBaseClass (): void {
  missing ??= [...missingMembers(), ...uncalledMethods()]

  if (missing.length > 0) {
    throw new IncompatibleUtilsError([...new Set(missing)], UTILS_VERSIONS)
  }
}

function missingMembers (): string[] {
  const probe = new Probe()

  // eslint-disable-next-line valid-typeof
  return Object.entries(USED).filter(([member, type]) => typeof Reflect.get(probe, member) !== type).map(([member]) => member)
}

/** Methods of a subclass that the base class should call and does not, as if they had another name */
function uncalledMethods (): string[] {
  const probe = new Probe()

  try {
    probe.send(new Uint8Array(1))
    probe.pause()
    probe.resume()
    probe.abort(new Error('Only to see what is called'))
  } catch {
    // something is missing
  }

  return CALLED.filter(method => !probe.called.has(method))
}

/** Does nothing, and tells which methods the base class calls */
class Probe extends AbstractMultiaddrConnection {
  // not in the constructor of the base class: that emits nothing
  readonly called = new Set<string>()

  constructor () {
    super({ remoteAddr: multiaddr('/ip4/127.0.0.1/tcp/1'), direction: 'outbound', log: silent() })
  }

  sendData (data: Uint8ArrayList): SendResult {
    this.called.add('sendData')

    return { sentBytes: data.byteLength, canSendMore: true }
  }

  sendReset (): void {
    this.called.add('sendReset')
  }

  sendPause (): void {
    this.called.add('sendPause')
  }

  sendResume (): void {
    this.called.add('sendResume')
  }

  async sendClose (): Promise<void> {}

  protected dispatchReadBuffer (): void {
    this.called.add('dispatchReadBuffer')
  }

  dispatchEvent (event: Event): boolean {
    this.called.add('dispatchEvent')

    return super.dispatchEvent(event)
  }
}

function silent (): Logger {
  const log = (): void => {}

  return Object.assign(log, { error: log, trace: log, enabled: false, newScope: silent })
}
