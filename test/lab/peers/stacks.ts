import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { packageRoot } from '../script-path.ts'
import { IterableChannel, MessageChannel } from './channels.ts'
import { nodePeer } from './node.ts'
import { transportPeer } from './transport.ts'
import { importInstalled, installedVersions, ourVersion, stackVersions } from './versions.ts'
import type { Contender, OpenOptions } from './contender.ts'
import type { Stack } from './node.ts'
import type { TransportFactory } from './transport.ts'
import type { TCPOptions, YamuxOptions } from '../../../src/index.ts'
import type { StackName, TransportName } from '../stacks.ts'
import type { Stream } from '@libp2p/interface'

/** The connections of 5 minutes of idleness must not be cut after 2, in ms */
export const SOCKET_INACTIVITY_TIMEOUT = 3_600_000

const TCP_OPTIONS = {
  inboundSocketInactivityTimeout: SOCKET_INACTIVITY_TIMEOUT,
  outboundSocketInactivityTimeout: SOCKET_INACTIVITY_TIMEOUT
}

type Composed = Pick<Contender, 'versions' | 'open'>

/** Loaded when it is needed: a plain socket has neither */
export async function transportOf (name: TransportName, { noDelay = true, ...options }: OpenOptions & TCPOptions = {}): Promise<TransportFactory> {
  const { TRANSPORTS } = await import('../stacks.ts')

  return TRANSPORTS[name]({ ...TCP_OPTIONS, dialOpts: { noDelay }, ...options })
}

export const officialConnection: Composed = {
  versions: () => installedVersions(['@libp2p/tcp', '@libp2p/utils']),
  open: async options => transportPeer(await transportOf('official', options))
}

export function ourConnection (tcpOptions: TCPOptions = {}): Composed {
  return {
    versions: () => ({ ...ourVersion(), ...installedVersions(['@libp2p/utils']) }),
    open: async ({ noDelay } = {}) => transportPeer(await transportOf('plain', { noDelay, ...tcpOptions }))
  }
}

/** Over the libp2p that the project is developed with */
export const STACKS = {
  official: async () => currentStack('official'),

  /** noDelay and CLOSE_TIMEOUT alone */
  recipe: async () => currentStack('plain', { optimistic: false }),
  transport: async () => currentStack('plain'),
  ours: async () => currentStack('ours'),

  /** With a key of Noise made once, not for each message */
  keyed: async () => {
    const [{ noise }, { noiseCrypto }] = await Promise.all([import('@libp2p/noise'), import('../../../src/index.ts')])

    return currentStack('ours', undefined, noise({ crypto: noiseCrypto }))
  },

  /** Sends what the kernel takes */
  'no-window': async () => currentStack('ours', {}, undefined, { sendWindow: false }),

  /** With what `linux()` sets by default */
  linux: async () => currentStack('linux'),

  /** With the first bytes of a dial in the SYN where both hosts allow that: a link of network namespaces does, loopback seldom */
  'fast-open': async () => currentStack('fast-open')
}

export function currentNode (name: keyof typeof STACKS): Composed {
  return {
    versions: () => name === 'official' ? stackVersions('@libp2p/tcp') : { ...ourVersion(), ...stackVersions() },
    open: async options => nodePeer(await STACKS[name](), options)
  }
}

async function currentStack (name: StackName, options?: TCPOptions, encrypter?: unknown, yamux?: YamuxOptions): Promise<Stack> {
  const [{ createLibp2p }, { EAGER, stack }, { multiaddr }] = await Promise.all([import('libp2p'), import('../stacks.ts'), import('@multiformats/multiaddr')])

  return {
    createLibp2p,
    multiaddr,
    options: stack(name, { tcp: { ...TCP_OPTIONS, dialOpts: { noDelay: true }, ...options }, encrypter, yamux }),
    streamOptions: name === 'official' || name === 'plain' ? {} : EAGER,
    toChannel (stream: Stream) {
      if (stream.direction === 'inbound') {
        stream.addEventListener('remoteCloseWrite', () => { stream.close().catch(() => {}) })
      }

      return new MessageChannel(stream, async () => stream.close())
    }
  }
}

/**
 * A stack of libp2p 1 or 2, installed apart on first use.
 *
 * @param name - the folder that holds its package.json and lock file
 * @param encryptersOption - what `createLibp2p` of its time calls the list
 */
export function olderNode (name: string, encryptersOption: string): Composed & Pick<Contender, 'prepare'> {
  const directory = path.join(packageRoot(), 'test', 'lab', 'peers', name)

  return {
    versions: () => installedVersions(['libp2p', '@libp2p/tcp', '@chainsafe/libp2p-noise', '@chainsafe/libp2p-yamux', '@libp2p/multistream-select'], directory),

    async prepare (onProgress) {
      if (!isInstalled(directory)) {
        onProgress(`installing ${name} on first use`)
        // npm would leave its compile cache in the folder for temporary files
        await execa('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, env: { NODE_DISABLE_COMPILE_CACHE: '1' } })
      }
    },

    async open (options) {
      const [{ createLibp2p }, { tcp }, { noise }, { yamux }, { multiaddr }] = await Promise.all([
        'libp2p',
        '@libp2p/tcp',
        '@chainsafe/libp2p-noise',
        '@chainsafe/libp2p-yamux',
        '@multiformats/multiaddr'
      ].map(async name => importInstalled(directory, name)))

      return nodePeer({
        createLibp2p,
        multiaddr,
        options: { transports: [tcp()], [encryptersOption]: [noise()], streamMuxers: [yamux()] },
        toChannel: stream => new IterableChannel(stream)
      }, options)
    }
  }
}

/** npm writes a lock file of its own when it has finished */
function isInstalled (directory: string): boolean {
  const installed = path.join(directory, 'node_modules', '.package-lock.json')

  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(path.join(directory, 'package-lock.json')).mtimeMs
}
