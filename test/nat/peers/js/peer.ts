import { readdirSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { dcutr } from '@libp2p/dcutr'
import { identify, identifyPush } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { tls } from '@libp2p/tls'
import { multiaddr } from '@multiformats/multiaddr'
import { Command, Option } from 'commander'
import { createLibp2p } from 'libp2p'
import { pEvent } from 'p-event'
import { holePunching, reusePort } from '../../../../src/nat/index.ts'
import { endWithInput, tell } from '../../../lab/process/lines.ts'
import { stack as stackOf } from '../../../lab/stacks.ts'
import type { Parts } from '../../../lab/stacks.ts'
import type { Libp2pEvents, TypedEventTarget } from '@libp2p/interface'

/*
 * A node of js-libp2p for the NAT lab. ../../README.md describes the command line and the lines that it prints. `ours` and `plain` have
 * `tcp({ reusePort: reusePort() })` and `holePunching()`, `official` has `@libp2p/tcp` and `dcutr()`.
 */
interface Options {
  listen: string
  stack: 'ours' | 'plain' | 'official'
  security: 'noise' | 'tls'
}

interface PrivateOptions extends Options {
  relay: string
  announce?: string
}

const READY_TIMEOUT = 15_000

function parts ({ security, stack }: Options): Parts {
  const { transports, ...rest } = stackOf(stack, { encrypter: security === 'tls' ? tls() : noise(), tcp: stack === 'official' ? {} : { reusePort: reusePort() } })

  return { ...rest, transports: [...transports, circuitRelayTransport()] }
}

async function relay (options: Options): Promise<void> {
  const node = await createLibp2p({
    ...parts(options),
    // nobody is there who could verify it
    addresses: { listen: [options.listen], announce: [options.listen] },
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
    .addOption(new Option('--stack <stack>').choices(['ours', 'plain', 'official']).default('ours'))
    .addOption(new Option('--security <security>').choices(['noise', 'tls']).default('noise'))
    .action(run)
}

endWithInput()
await program.parseAsync()
