import { readdirSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { dcutr } from '@libp2p/dcutr'
import { identify, identifyPush } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { tcp as officialTcp } from '@libp2p/tcp'
import { tls } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { Command, Option } from 'commander'
import { createLibp2p } from 'libp2p'
import { pEvent } from 'p-event'
import { holePunching, optimistic, tcp } from '../../../../src/index.ts'
import type { Libp2pEvents, TypedEventTarget } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'

/**
 * A node of js-libp2p for the NAT lab. ../../README.md describes the command line and the lines
 * that it prints.
 *
 * - `decorated`: this package with everything that it has
 * - `plain`: `tcp({ reusePort: true })` and `holePunching()` alone
 * - `official`: `@libp2p/tcp` and `dcutr()`
 */
type Stack = 'decorated' | 'plain' | 'official'

interface Options {
  listen: string
  stack: Stack
  security: 'noise' | 'tls'
}

interface PrivateOptions extends Options {
  relay: string
  announce?: string
}

const READY_TIMEOUT = 15_000

function tell (line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function parts ({ security, stack }: Options): Libp2pOptions {
  const encrypter = security === 'tls' ? tls() : noise()

  return {
    connectionEncrypters: [stack === 'decorated' ? optimistic(encrypter) : encrypter],
    streamMuxers: [stack === 'decorated' ? optimistic(yamux()) : yamux()]
  }
}

async function relay (options: Options): Promise<void> {
  const node = await createLibp2p({
    ...parts(options),
    // nobody is there who could verify it
    addresses: { listen: [options.listen], announce: [options.listen] },
    transports: [options.stack === 'official' ? officialTcp() : tcp({ reusePort: true }), circuitRelayTransport()],
    services: {
      identify: identify(),
      relay: circuitRelayServer()
    }
  })

  tell({ event: 'listening', multiaddr: node.getMultiaddrs()[0].toString() })
}

async function punchable (options: PrivateOptions): Promise<void> {
  const isOurs = options.stack !== 'official'
  const relay = multiaddr(options.relay)
  const relayed = new Map<string, number>()
  const node = await createLibp2p({
    ...parts(options),
    addresses: { listen: [options.listen, '/p2p-circuit'], appendAnnounce: options.announce == null ? [] : [options.announce] },
    transports: [isOurs ? tcp({ reusePort: true }) : officialTcp(), circuitRelayTransport()],
    services: {
      identify: identify(),
      identifyPush: identifyPush(),
      // where services listen
      events: (components: { events: TypedEventTarget<Libp2pEvents> }) => components.events,
      dcutr: isOurs
        ? holePunching(dcutr(), {
          onProgress: ({ type, detail }) => {
            if (type === 'hole-punch:failed') {
              tell({ event: 'failed', peer: detail.peer.toString(), reason: `${detail.reason}: ${detail.error.message}` })
            }
          }
        })
        : dcutr()
    }
  })

  node.addEventListener('connection:open', ({ detail: connection }) => {
    const peer = connection.remotePeer.toString()

    if (options.relay.endsWith(peer)) {
      return
    }

    if (connection.limits != null) {
      relayed.set(peer, performance.now())
      tell({ event: 'relayed', peer })
      connection.addEventListener('close', () => { tell({ event: 'relayed-closed', peer }) })
    } else {
      const since = relayed.get(peer)
      tell({ event: 'direct', peer, address: connection.remoteAddr.toString(), ms: since == null ? undefined : performance.now() - since })
    }
  })

  const identified = pEvent<'peer:identify', any>(node, 'peer:identify', { timeout: READY_TIMEOUT })
  const reserved = pEvent(node, 'self:peer:update', {
    timeout: READY_TIMEOUT,
    filter: () => node.getMultiaddrs().some(isRelayed)
  })
  await node.dial(relay)
  const { detail: { observedAddr } } = await identified
  await (node.getMultiaddrs().some(isRelayed) ? reserved.cancel() : reserved)

  const port = Number(node.getMultiaddrs().map(String).find(ma => /^\/ip4\/[\d.]+\/tcp\/\d+\/p2p\/\w+$/.test(ma))?.split('/')[4])

  tell({ event: 'ready', port, peerId: node.peerId.toString(), observed: [String(observedAddr)], address: `${options.relay}/p2p-circuit/p2p/${node.peerId}` })

  for await (const line of createInterface(process.stdin)) {
    const [command, address] = line.split(' ')

    if (command === 'dial') {
      node.dial(multiaddr(address)).catch(err => { tell({ event: 'dial-error', reason: err.message }) })
    } else if (command === 'resources') {
      tell({ event: 'resources', ...resources(node.services.events) })
    } else {
      throw new Error(`no such command: ${command}`)
    }
  }
}

/** What a punch must not leave behind */
function resources (events: TypedEventTarget<Libp2pEvents>): Record<'sockets' | 'listeners' | 'timers', number> {
  return {
    sockets: readdirSync('/proc/self/fd').filter(isSocket).length,
    listeners: events.listenerCount('connection:open'),
    timers: process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  }
}

function isSocket (descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('socket:')
  } catch {
    // the one with which the directory was read
    return false
  }
}

function isRelayed (ma: { toString(): string }): boolean {
  return ma.toString().includes('/p2p-circuit')
}

const program = new Command()

for (const [name, run] of [['relay', relay], ['private', punchable]] as const) {
  program.command(name)
    .requiredOption('--listen <multiaddr>')
    .option('--relay <multiaddr>')
    .option('--announce <multiaddr>')
    .addOption(new Option('--stack <stack>').choices(['decorated', 'plain', 'official']).default('decorated'))
    .addOption(new Option('--security <security>').choices(['noise', 'tls']).default('noise'))
    .action(run)
}

// the end of a pipe that closes when our parent dies
process.stdin.once('end', () => process.exit())
await program.parseAsync()
process.stdin.resume()
