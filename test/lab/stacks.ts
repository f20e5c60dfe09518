import { noise } from '@libp2p/noise'
import { tcp as officialTcp } from '@libp2p/tcp'
import { yamux as stockYamux } from '@libp2p/yamux'
import { optimistic, tcp, yamux } from '../../src/index.ts'
import { linux } from '../../src/linux/index.ts'
import { reusePort } from '../../src/nat/index.ts'
import type { TCPOptions, YamuxOptions } from '../../src/index.ts'
import type { Libp2pOptions } from 'libp2p'

type Transport = (init?: TCPOptions) => any

/** Each transport that is compared. The same specs run with each of them: see fixtures/transport.ts */
export const TRANSPORTS = {
  official: init => officialTcp(init),
  plain: init => tcp(init),
  linux: init => tcp({ linux: linux(), ...init }),
  // does something where `net.ipv4.tcp_fastopen` is 3
  'fast-open': init => tcp({ linux: linux({ fastOpen: true }), ...init }),
  'reuse-port': init => tcp({ reusePort: reusePort(), ...init })
} satisfies Record<string, Transport>

export type TransportName = keyof typeof TRANSPORTS

/** `official` and `plain` have the stock muxer and encrypter, the others all that this package has */
export type StackName = TransportName | 'ours'

export type Parts = Required<Pick<Libp2pOptions, 'transports' | 'connectionEncrypters' | 'streamMuxers'>>

export interface StackOptions {
  tcp?: TCPOptions

  /** Noise by default */
  encrypter?: any

  /** Of either muxer. The stock one ignores those that it does not know */
  yamux?: YamuxOptions
}

/** What a node of this name is made of */
export function stack (name: StackName, { tcp: init, encrypter = noise(), yamux: muxer }: StackOptions = {}): Parts {
  const isStock = name === 'official' || name === 'plain'

  return {
    transports: [TRANSPORTS[name === 'ours' ? 'plain' : name](init)],
    connectionEncrypters: [isStock ? encrypter : optimistic(encrypter)],
    streamMuxers: [isStock ? stockYamux(muxer) : yamux(muxer)]
  }
}

/** Options of `newStream` that allow a stack all that it can do */
export const EAGER = { negotiateFully: false }
