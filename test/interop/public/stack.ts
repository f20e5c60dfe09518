import { mplex } from '@libp2p/mplex'
import { noise } from '@libp2p/noise'
import { tls } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { optimistic, tcp } from 'libp2p-fast-tcp'
import { settings } from './settings.ts'
import type { Libp2pOptions } from 'libp2p'
import type { TCPOptions } from 'libp2p-fast-tcp'

/** The image has one stack. Here the official one can be measured beside it: `STACK=official` */
export const isOfficial = process.env.STACK === 'official'

type Stack = Required<Pick<Libp2pOptions, 'transports' | 'connectionEncrypters' | 'streamMuxers' | 'connectionManager'>>

/** Transport, encrypter and muxer of this test */
export async function stack (options?: TCPOptions): Promise<Stack> {
  const encrypter = choose(settings.security, { noise, tls })()
  const muxer = choose(settings.muxer, { yamux, mplex })()
  // a dialer that redials in a loop must not be taken for an attacker
  const connectionManager = { inboundConnectionThreshold: Infinity, maxIncomingPendingConnections: 1_000 }

  if (isOfficial) {
    const official = await import('@libp2p/tcp')

    return { transports: [official.tcp()], connectionEncrypters: [encrypter], streamMuxers: [muxer], connectionManager }
  }

  return { transports: [tcp(options)], connectionEncrypters: [optimistic(encrypter)], streamMuxers: [optimistic(muxer)], connectionManager }
}

function choose <T> (name: string, all: Record<string, T>): T {
  if (!Object.hasOwn(all, name)) {
    throw new Error(`There is no ${name}, but ${Object.keys(all).join(' and ')}`)
  }

  return all[name]
}
