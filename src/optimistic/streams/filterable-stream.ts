import { hasMembers } from '../../foreign/check.ts'
import type { AbortOptions, MessageStream, Stream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * A message stream whose data passes through public methods, as it does in all that
 * extend AbstractMessageStream of `@libp2p/utils`. They are not part of the interface,
 * so they are looked for before they are used.
 */
export interface FilterableStream extends MessageStream {
  writeStatus: Stream['writeStatus']
  remoteWriteStatus: Stream['remoteWriteStatus']
  onData(data: Uint8Array | Uint8ArrayList): void
  onRemoteCloseWrite(): void
  onRemoteReset(): void
  onTransportClosed(err?: Error): void

  /** A stream that closes its two directions separately, as AbstractStream does */
  sendCloseWrite?(options?: AbortOptions): Promise<void>
}

/** Methods that are replaced until the peer has answered */
export const FILTERED = ['onData', 'onRemoteCloseWrite', 'onTransportClosed'] as const

/** Whether the data of a stream can be filtered, and no other filter is there */
export function isFilterable (stream: MessageStream, kind: 'stream' | 'securedConnection'): stream is FilterableStream {
  const replaced = kind === 'stream' ? [...FILTERED, 'close', 'sendCloseWrite'] : FILTERED

  return hasMembers(kind, stream) && !replaced.some(method => Object.hasOwn(stream, method))
}

/** Restore the methods of the class where they are still `ours`: somebody else may have built on one */
export function restoreOwn (stream: FilterableStream, ours: Partial<FilterableStream>): void {
  for (const [method, own] of Object.entries(ours)) {
    if (stream[method as keyof FilterableStream] === own) {
      Reflect.deleteProperty(stream, method)
    }
  }
}

/** Restore the methods of the class */
export function restore (stream: FilterableStream, methods: ReadonlyArray<keyof FilterableStream>): void {
  methods.forEach(method => Reflect.deleteProperty(stream, method))
}
