import { programOf } from './program.ts'
import { rawNet } from './raw-net.ts'
import { STACKS, currentNode, officialConnection, olderNode, ourConnection } from './stacks.ts'
import type { Contender, Level, OpenOptions, Peer, SuiteName } from './contender.ts'

export const LEVELS: Level[] = ['connection', 'stream']

const plainSockets = {
  level: 'connection' as const,
  versions: () => ({ node: process.versions.node }),
  open: async (options?: OpenOptions) => rawNet(options)
}

/** Every contender, in the order in which tables list them */
export const contenders: Contender[] = [
  // what TCP itself costs: no stack that connects before it sends can be faster
  { ...plainSockets, name: 'floor', title: 'plain net.connect and 1 byte', suites: ['connect'] },
  { ...plainSockets, name: 'net', title: 'node:net with noDelay, one write a message', suites: ['nagle', 'throughput', 'scale'] },
  { ...officialConnection, name: 'official', level: 'connection', title: '@libp2p/tcp 11', suites: ['nagle', 'throughput', 'scale'] },
  { ...ourConnection(), name: 'ours', level: 'connection', title: 'libp2p-fast-tcp', suites: ['nagle', 'throughput', 'scale'] },
  {
    ...ourConnection({ closeTimeout: 0 }),
    name: 'hasty',
    level: 'connection',
    title: 'libp2p-fast-tcp, whose close() does not wait for the peer\'s FIN (closeTimeout: 0)',
    suites: ['throughput', 'scale'],
    onlyIfNamed: true
  },

  // the "0.2 s" and the "0.4 s" of js-libp2p issue #3029. Installations of libp2p 1.9 had multistream-select 5.0.3, which sent a lone
  // proposal together with what followed
  { ...olderNode('v9', 'connectionEncryption'), name: 'v9', level: 'stream', title: 'libp2p 1.9, @libp2p/tcp 9 (the "0.2 s")', suites: ['connect'] },
  { ...olderNode('v10', 'connectionEncrypters'), name: 'v10', level: 'stream', title: 'libp2p 2.8, @libp2p/tcp 10 (the "0.4 s")', suites: ['connect'] },
  { ...currentNode('official'), name: 'official', level: 'stream', title: 'libp2p 3, @libp2p/tcp 11 (official today)', suites: ['connect', 'throughput', 'scale'] },
  // the cure that pull request #3032 proposed for that issue
  { ...currentNode('recipe'), name: 'recipe', level: 'stream', title: 'noDelay and CLOSE_TIMEOUT alone', suites: ['connect'] },
  { ...currentNode('transport'), name: 'transport', level: 'stream', title: 'libp2p-fast-tcp, its tcp() alone', suites: ['connect', 'throughput', 'scale'] },
  { ...currentNode('ours'), name: 'ours', level: 'stream', title: 'libp2p-fast-tcp, tcp(), yamux() and optimistic()', suites: ['connect', 'throughput', 'scale'] },
  {
    ...currentNode('keyed'),
    name: 'keyed',
    level: 'stream',
    title: 'libp2p-fast-tcp, tcp(), yamux() and optimistic(), with noise({ crypto: noiseCrypto })',
    suites: ['throughput']
  },
  {
    ...currentNode('fast-open'),
    name: 'fast-open',
    level: 'stream',
    title: 'libp2p-fast-tcp, tcp(), yamux() and optimistic(), with TCP Fast Open',
    suites: ['connect'],
    // throws where this machine has none
    prepare: async () => { await STACKS['fast-open']() }
  },
  { ...programOf('go'), name: 'go', level: 'stream', title: 'go-libp2p 0.51 to itself (waits for identify)', suites: ['connect'] },
  { ...programOf('rust'), name: 'rust', level: 'stream', title: 'rust-libp2p 0.57 to itself', suites: ['connect'] }
]

export function namesIn (suite: SuiteName, isWanted: (contender: Contender) => boolean = () => true): string[] {
  return [...new Set(contenders.filter(contender => contender.suites.includes(suite) && isWanted(contender)).map(({ name }) => name))]
}

/**
 * Those of a suite that have any of the names; where none are given, all but those that want to be named.
 *
 * @throws {Error} if there are none
 */
export function selectContenders (suite: SuiteName, { levels = LEVELS, rivals }: { levels?: Level[], rivals?: string[] } = {}): Contender[] {
  const selected = contenders.filter(({ suites, level, name, onlyIfNamed }) => (
    suites.includes(suite) && levels.includes(level) && (rivals?.includes(name) ?? onlyIfNamed !== true)
  ))

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

/** @throws {Error} if its dials cannot be told what to do */
export async function openPeer (level: string, name: string, options?: OpenOptions): Promise<Peer> {
  const peer = await contenderNamed(level, name).open(options)

  if (!('dial' in peer)) {
    throw new Error(`${name} is a program of its own`)
  }

  return peer
}

/**
 * Opens a contender in a process that holds the code of a whole node, with both transports, whatever it needs itself. A message of
 * hundreds of KiB soon makes V8 collect all garbage, which takes longer the more the heap holds: a plain socket takes 1.1 times as long
 * beside modules that it does not use.
 */
export async function openAmongAll (level: string, name: string): Promise<Peer> {
  await Promise.all([import('../stacks.ts'), import('libp2p')])

  return openPeer(level, name)
}
