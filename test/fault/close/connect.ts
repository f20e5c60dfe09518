import { rawClient, rawPeer } from '../../fixtures/peers.ts'
import { rawTransport } from '../../fixtures/raw.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

export type Connect = (index: number) => Promise<[MultiaddrConnection, Socket]>

/**
 * Returns what connects the transport to a plain socket: every other connection is dialed by the transport, the others are accepted by it
 */
export async function connecting (defer: Defer): Promise<Connect> {
  const { dial, listen } = rawTransport(defer)
  const { addr, next: nextSocket } = await rawPeer(defer)
  const { port, next: nextConnection } = await listen()

  async function connect (index: number): Promise<[MultiaddrConnection, Socket]> {
    if (index % 2 === 0) {
      return [await dial(addr), await nextSocket()]
    }

    const socket = await rawClient(defer, port)

    return [await nextConnection(), socket]
  }

  // one after the other, or nobody knows which ends belong together
  let last: Promise<unknown> = Promise.resolve()

  return async index => {
    const connected = last.then(async () => connect(index))
    last = connected.catch(() => {})

    return connected
  }
}
