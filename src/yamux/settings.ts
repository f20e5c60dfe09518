import { InvalidParametersError } from '@libp2p/interface'
import { MAX_TIMEOUT, aBoolean, aNumber, anObject, checkOptions, milliseconds } from '../check-options.ts'
import { PROTOCOL_NEGOTIATION_TIMEOUT } from '../libp2p.ts'
import { FIRST_WINDOW, MAX_WINDOW } from './frames.ts'
import type { Rule } from '../check-options.ts'
import type { YamuxOptions, YamuxStreamOptions } from './options.ts'
import type { StreamOptions } from '@libp2p/interface'

/** What js-libp2p keeps of a stream that nobody reads, in bytes: that, and a window, so a paused stream loses nothing */
const READ_BUFFER = 4 * 1024 * 1024

const MAX_UINT32 = 2 ** 32 - 1

const STREAM_RULES: Record<keyof YamuxStreamOptions, Rule> = {
  initialStreamWindowSize: { mustBe: `${FIRST_WINDOW} to ${MAX_UINT32} bytes`, holds: isBetween(FIRST_WINDOW, MAX_UINT32) },
  maxStreamWindowSize: { mustBe: `${FIRST_WINDOW} to ${MAX_UINT32} bytes`, holds: isBetween(FIRST_WINDOW, MAX_UINT32) },
  inactivityTimeout: milliseconds(0),
  maxReadBufferLength: aNumber(0),
  maxWriteBufferLength: aNumber(0)
}

const RULES: Record<keyof YamuxOptions, Rule> = {
  enableKeepAlive: aBoolean,
  keepAliveInterval: milliseconds(1),
  maxInboundStreams: aNumber(0),
  maxOutboundStreams: aNumber(0),
  maxEarlyStreams: aNumber(0),
  maxMessageSize: aNumber(1024),
  optimistic: aBoolean,
  replyTimeout: milliseconds(1),
  sendWindow: aBoolean,
  maxUnread: aNumber(FIRST_WINDOW),
  streamOptions: anObject(STREAM_RULES)
}

const DEFAULTS = {
  enableKeepAlive: true,
  keepAliveInterval: 30_000,
  maxInboundStreams: 1_000,
  maxOutboundStreams: 1_000,
  maxMessageSize: Infinity,
  optimistic: true,
  replyTimeout: PROTOCOL_NEGOTIATION_TIMEOUT,
  sendWindow: true,
  maxUnread: 256 * 1024 * 1024
}

/** The options of a muxer, checked, defaults included */
export interface YamuxSettings {
  readonly enableKeepAlive: boolean
  readonly keepAliveInterval: number
  readonly maxInboundStreams: number
  readonly maxOutboundStreams: number
  readonly maxEarlyStreams?: number
  readonly maxMessageSize: number
  readonly optimistic: boolean
  readonly replyTimeout: number
  readonly sendWindow: boolean
  readonly maxUnread: number

  /** How much each end may send on a new stream, in bytes */
  readonly firstWindow: number

  /** How much a peer may be allowed to send on a stream, in bytes */
  readonly maxWindow: number
  readonly streamOptions: StreamOptions
}

/**
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name
 */
export function yamuxSettings (given?: YamuxOptions | null): YamuxSettings {
  checkOptions('yamux()', given, RULES)

  const { streamOptions, ...options } = withoutAbsent(given)
  const settings = { ...DEFAULTS, ...options }

  return Object.freeze({
    ...settings,
    ...streamSettings(withoutAbsent(streamOptions)),
    keepAliveInterval: Math.min(settings.keepAliveInterval, MAX_TIMEOUT),
    replyTimeout: Math.min(settings.replyTimeout, MAX_TIMEOUT)
  })
}

/** An option that is null or undefined counts as absent */
function withoutAbsent <T extends object> (options?: T | null): T {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value != null)) as T
}

function streamSettings (options: YamuxStreamOptions): Pick<YamuxSettings, 'firstWindow' | 'maxWindow' | 'streamOptions'> {
  const { initialStreamWindowSize: firstWindow = FIRST_WINDOW, maxStreamWindowSize, inactivityTimeout, maxReadBufferLength, maxWriteBufferLength } = options

  if (maxStreamWindowSize != null && maxStreamWindowSize < firstWindow) {
    throw new InvalidParametersError(`The option streamOptions.maxStreamWindowSize of yamux() must be initialStreamWindowSize or more, not ${maxStreamWindowSize} and ${firstWindow}`)
  }

  const maxWindow = Math.max(firstWindow, Math.min(maxStreamWindowSize ?? MAX_WINDOW, maxReadBufferLength ?? Infinity))

  return {
    firstWindow,
    maxWindow,
    streamOptions: Object.freeze({
      inactivityTimeout,
      maxReadBufferLength: maxReadBufferLength ?? READ_BUFFER + maxWindow,
      maxWriteBufferLength
    })
  }
}

function isBetween (from: number, to: number): (value: unknown) => boolean {
  return value => typeof value === 'number' && value >= from && value <= to
}
