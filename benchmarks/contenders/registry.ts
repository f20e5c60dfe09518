import { installedVersions, ourVersion } from '../rivals/installed.ts'
import { packageRoot } from '../script-path.ts'
import { rawNet } from './net.ts'
import { nodePeer } from './node.ts'
import { transportPeer } from './transport.ts'
import type { Contender, Level, Peer } from './contender.ts'
import type { NodeOptions } from './node.ts'
import type { TransportFactory } from './transport.ts'
import type { TCPOptions } from '../../src/index.ts'

export const LEVELS: Level[] = ['connection', 'stream']

/**
 * The connections of 5 minutes of idleness must not be cut after 2, in ms
 */
export const SOCKET_INACTIVITY_TIMEOUT = 3_600_000

const TCP_OPTIONS = {
  inboundSocketInactivityTimeout: SOCKET_INACTIVITY_TIMEOUT,
  outboundSocketInactivityTimeout: SOCKET_INACTIVITY_TIMEOUT
}

/**
 * Every contender, in the order in which tables list them
 */
export const contenders: Contender[] = [
  rawNet,
  {
    name: 'official',
    level: 'connection',
    title: '@libp2p/tcp 11',
    versions: () => versions('@libp2p/tcp', '@libp2p/utils'),
    open: async () => transportPeer(await officialTransport())
  },
  {
    name: 'ours',
    level: 'connection',
    title: 'libp2p-fast-tcp',
    versions: () => ({ ...ourVersion(), ...versions('@libp2p/utils') }),
    open: async () => transportPeer(await ourTransport())
  },
  {
    name: 'hasty',
    level: 'connection',
    title: 'libp2p-fast-tcp, whose close() does not wait for the peer\'s FIN (closeTimeout: 0)',
    extra: true,
    versions: () => ({ ...ourVersion(), ...versions('@libp2p/utils') }),
    open: async () => transportPeer(await ourTransport({ closeTimeout: 0 }))
  },
  {
    name: 'official',
    level: 'stream',
    title: 'libp2p 3 with @libp2p/tcp 11',
    versions: () => stackVersions('@libp2p/tcp'),
    open: async () => nodePeer(await withTransport(await officialTransport()))
  },
  {
    name: 'transport',
    level: 'stream',
    title: 'libp2p 3 with libp2p-fast-tcp, the transport alone',
    versions: () => ({ ...ourVersion(), ...stackVersions() }),
    open: async () => nodePeer(await withTransport(await ourTransport()))
  },
  {
    name: 'ours',
    level: 'stream',
    title: 'libp2p 3 with libp2p-fast-tcp, encrypter and muxer optimistic',
    versions: () => ({ ...ourVersion(), ...stackVersions() }),
    open: async () => {
      const { optimistic } = await import('../../src/index.ts')
      const { noise } = await import('@libp2p/noise')
      const { yamux } = await import('@libp2p/yamux')

      return nodePeer({
        transports: [await ourTransport()],
        connectionEncrypters: [optimistic(noise())],
        streamMuxers: [optimistic(yamux())]
      }, { negotiateFully: false })
    }
  }
]

export const CONTENDER_NAMES = [...new Set(contenders.map(({ name }) => name))]

/**
 * For the help of a command.
 */
export const RIVALS_HELP = `only these: ${CONTENDER_NAMES.join(', ')} (default: all but ${contenders.filter(({ extra }) => extra === true).map(({ name }) => name).join(' and ')})`

/**
 * Those at any of the levels that have any of the names; where none are given, all
 * but the extra ones.
 *
 * @throws {Error} if there are none
 */
export function selectContenders ({ levels = LEVELS, rivals }: { levels?: Level[], rivals?: string[] }): Contender[] {
  const selected = contenders.filter(({ level, name, extra }) => levels.includes(level) && (rivals?.includes(name) ?? extra !== true))

  if (selected.length === 0) {
    throw new Error(`There is no ${rivals?.join(' and no ')} at the ${levels.join(' and ')} level`)
  }

  return selected
}

export function contenderNamed (level: string, name: string): Contender {
  const contender = contenders.find(contender => contender.level === level && contender.name === name)

  if (contender == null) {
    throw new Error(`No contender at level "${level}" is named "${name}"`)
  }

  return contender
}

/**
 * Opens a contender in a process that holds the code of a whole node, with both
 * transports, whatever it needs itself. A message of hundreds of KiB soon makes V8
 * collect all garbage, which takes longer the more the heap holds: a plain socket
 * takes 1.1 times as long beside modules that it does not use.
 */
export async function openContender (level: string, name: string): Promise<Peer> {
  await Promise.all([officialTransport(), ourTransport(), import('libp2p'), import('@libp2p/noise'), import('@libp2p/yamux')])

  return contenderNamed(level, name).open()
}

async function officialTransport (): Promise<TransportFactory> {
  const { tcp } = await import('@libp2p/tcp')

  return tcp(TCP_OPTIONS)
}

async function ourTransport (options?: TCPOptions): Promise<TransportFactory> {
  const { tcp } = await import('../../src/index.ts')

  return tcp({ ...TCP_OPTIONS, ...options })
}

async function withTransport (transport: TransportFactory): Promise<NodeOptions> {
  const { noise } = await import('@libp2p/noise')
  const { yamux } = await import('@libp2p/yamux')

  return { transports: [transport], connectionEncrypters: [noise()], streamMuxers: [yamux()] }
}

function versions (...packages: string[]): Record<string, string> {
  return installedVersions(packageRoot(), packages)
}

function stackVersions (...packages: string[]): Record<string, string> {
  return versions('libp2p', '@libp2p/noise', '@libp2p/yamux', '@libp2p/multistream-select', '@libp2p/utils', ...packages)
}
