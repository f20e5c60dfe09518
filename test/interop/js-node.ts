import { setTimeout as delay } from 'node:timers/promises'
import { identify } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { tcp as officialTcp } from '@libp2p/tcp'
import { tls } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { optimistic } from '../../src/index.ts'
import { SlowDatastore } from '../fixtures/slow-datastore.ts'
import { tcp } from '../fixtures/transport.ts'
import type { JsStack, Optimism, Security } from './cells.ts'
import type { Identify } from '@libp2p/identify'
import type { Libp2p } from '@libp2p/interface'

export type JsNode = Libp2p<{ identify: Identify }>

export interface JsNodeOptions {
  stack: JsStack
  security: Security
  optimism?: Optimism

  /** Ask every peer who it is, as libp2p does unless told otherwise */
  identify: boolean

  /** Multiaddrs, by default none but for a dialer that leaves from its listening port */
  listen?: string[]

  /** What a connection gater takes to admit a connection, in ms */
  gater?: number

  /** What the peer store takes to read or to write, in ms */
  peerStore?: number
}

/** The defaults are 1,000 and 1,000: with those the connection monitor, whose ping is one more, ends a connection that has 1,000 */
const STREAM_LIMITS = { maxInboundStreams: 4_096, maxOutboundStreams: 4_096 }

const DIALER_LISTENS = process.env.TRANSPORT === 'reuse-port' ? ['/ip4/0.0.0.0/tcp/0', '/ip6/::/tcp/0'] : []

/**
 * A node of js-libp2p with TCP, Yamux, identify and the one security protocol
 * that is asked for.
 */
export async function createNode ({ stack, security, optimism = 'transport', identify: ask, listen = DIALER_LISTENS, gater, peerStore }: JsNodeOptions): Promise<JsNode> {
  const encrypter = security === 'tls' ? tls() : noise()
  const muxer = yamux(STREAM_LIMITS)
  const decorated = stack === 'ours' && (optimism === 'all' || optimism === 'known')

  return createLibp2p({
    addresses: { listen },
    ...(peerStore == null ? {} : { datastore: new SlowDatastore(peerStore) }),
    ...(gater == null ? {} : { connectionGater: { denyInboundUpgradedConnection: async () => delay(gater, false) } }),
    transports: [stack === 'ours' ? tcp({ optimistic: optimism !== 'off' }) : officialTcp()],
    connectionEncrypters: [decorated ? optimistic(encrypter) : encrypter],
    streamMuxers: [decorated ? optimistic(muxer) : muxer],
    connectionManager: {
      // the defaults admit 5 new connections a second from one host; every dial of a test comes from one
      inboundConnectionThreshold: 1_000_000,
      maxIncomingPendingConnections: 1_000
    },
    services: {
      identify: identify({ runOnConnectionOpen: ask })
    }
  })
}
