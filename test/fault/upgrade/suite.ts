import { noise } from '@libp2p/noise'
import { plaintext } from '@libp2p/plaintext'
import { tls } from '@libp2p/tls'
import { createNode } from '../../fixtures/node.ts'
import { within } from '../../fixtures/waiting.ts'
import { stack } from '../../lab/stacks.ts'
import { expectNothingOpen } from '../nodes.ts'
import { METHODS, WAITS, slowGater } from './gaters.ts'
import type { GaterMethod } from './gaters.ts'
import type { TestNode, TestNodeOptions } from '../../fixtures/node.ts'
import type { Context, Run, Scenario, Suite } from '../scenario.ts'
import type { Connection, MultiaddrConnection } from '@libp2p/interface'

type Role = keyof typeof METHODS

const ENCRYPTERS = { Noise: noise, TLS: tls, plaintext }

/**
 * What happens to the connection as soon as the peer's end is upgraded
 *
 * - `reset`, `FIN`: the peer does it
 * - `abort`: our end does, while its gater is asked
 * - `silence`: nothing
 */
const ENDINGS = ['reset', 'FIN', 'abort', 'silence'] as const

/** Each run is one connection. So many runs are one of every wait with every ending */
const CELLS = Object.keys(WAITS).length * ENDINGS.length

/** `--scale 10` makes 1,000 connections of every cell */
const CONNECTIONS = 100

/** Longer than any gater takes */
const SETTLED = 8_000

export const upgrade: Suite = {
  name: 'upgrade',
  promise: 'A connection gater that takes its time, and a peer that leaves meanwhile: the upgrade ends, nothing is thrown where nobody can catch it, nothing is left open',
  scenarios: (['dialer', 'listener'] as const).flatMap(role => (
    Object.keys(ENCRYPTERS) as Array<keyof typeof ENCRYPTERS>).flatMap(encrypter => [
    scenario(role, encrypter, 'plain'),
    scenario(role, encrypter, 'decorated')
  ]))
}

function scenario (role: Role, encrypter: keyof typeof ENCRYPTERS, layers: 'plain' | 'decorated'): Scenario {
  const secure = ENCRYPTERS[encrypter]()
  const { connectionEncrypters, streamMuxers } = stack(layers === 'plain' ? 'plain' : 'ours', { encrypter: secure })
  const options: TestNodeOptions = { connectionEncrypters, streamMuxers }

  return {
    name: `our end is the ${role}, ${encrypter}, ${layers}`,
    runs: CELLS * CONNECTIONS,
    concurrency: CELLS,
    timeout: 60_000,

    async prepare ({ defer }: Context) {
      const asked = new Asked()
      const peer = await createNode(defer, { ...options, listen: true })
      const gated = new Map<string, TestNode>()

      // one node for each wait and each method, and one with all methods
      for (const [name, wait] of Object.entries(WAITS)) {
        for (const methods of [...METHODS[role].map(method => [method]), METHODS[role]] as GaterMethod[][]) {
          gated.set(`${name} ${gated.size % (METHODS[role].length + 1)}`, await createNode(defer, {
            ...options,
            listen: true,
            connectionGater: slowGater(methods, wait, args => { asked.tell(args) })
          }))
        }
      }

      [peer, ...gated.values()].forEach(node => { expectNothingOpen(defer, node) })

      return async ({ index, injected }: Run) => {
        const cell = index % CELLS
        const wait = Object.keys(WAITS)[cell % 5]
        const ending = ENDINGS[Math.floor(cell / 5)]
        const node = gated.get(`${wait} ${Math.floor(index / CELLS) % (METHODS[role].length + 1)}`)

        if (node == null) {
          throw new Error(`There is no node for ${wait}`)
        }

        const [dialer, listener] = role === 'dialer' ? [node, peer] : [peer, node]

        injected()
        await within(SETTLED, 'the dial', end(dialer, listener, role, ending, asked))
      }
    }
  }
}

/** Dials, and ends the connection in this way */
async function end (dialer: TestNode, listener: TestNode, role: Role, ending: typeof ENDINGS[number], asked: Asked): Promise<void> {
  const controller = new AbortController()
  const [ours, theirs] = role === 'dialer' ? [dialer, listener] : [listener, dialer]
  const accepted = role === 'dialer' ? opened(theirs, ours) : undefined

  if (ending === 'abort') {
    asked.once(args => {
      // the gater of a dial is asked before there is a connection
      const connection = args.find((arg): arg is MultiaddrConnection => typeof (arg as MultiaddrConnection)?.abort === 'function')

      if (connection == null) {
        controller.abort()
      } else {
        connection.abort(new Error('The gater does not like it'))
      }
    })
  }

  const dial = dialer.dial(listener.getMultiaddrs(), { force: true, signal: AbortSignal.any([controller.signal, AbortSignal.timeout(SETTLED / 2)]) })
  const peers = accepted == null ? dial : Promise.race([accepted.promise, dial])

  try {
    leave(await peers, ending)
    await dial
  } catch {
    // the connection is gone: that is what this is about
  } finally {
    accepted?.cancel()
  }

  const connection = await dial.catch(() => undefined)

  await connection?.close().catch(err => { connection.abort(err) })
}

function leave (connection: Connection, ending: typeof ENDINGS[number]): void {
  if (ending === 'reset') {
    connection.abort(new Error('This peer has changed its mind'))
  } else if (ending === 'FIN') {
    connection.close().catch(err => { connection.abort(err) })
  }
}

/** The end of a connection that a node accepts from another */
function opened (node: TestNode, from: TestNode): { promise: Promise<Connection>, cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<Connection>()
  const onOpen = ({ detail }: CustomEvent<Connection>): void => {
    if (detail.remotePeer.equals(from.peerId)) {
      resolve(detail)
    }
  }

  node.addEventListener('connection:open', onOpen)

  return { promise, cancel: () => { node.removeEventListener('connection:open', onOpen) } }
}

/** Tells one listener, and then the next, that a gater is asked */
class Asked {
  readonly #listeners: Array<(args: unknown[]) => void> = []

  once (listener: (args: unknown[]) => void): void {
    this.#listeners.push(listener)
  }

  tell (args: unknown[]): void {
    this.#listeners.shift()?.(args)
  }
}
