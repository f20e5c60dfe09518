import { noise } from '@libp2p/noise'
import { yamux } from '@libp2p/yamux'
import { optimistic } from '../../src/index.ts'
import { createNode } from '../fixtures/node.ts'
import { openSockets, until } from '../fixtures/waiting.ts'
import type { Defer } from '../fixtures/cleanup.ts'
import type { TestNode, TestNodeOptions } from '../fixtures/node.ts'

/**
 * Every other node of ours saves the round trips of encrypter and muxer too
 */
export async function nodeOf (defer: Defer, index: number, options: TestNodeOptions = {}): Promise<TestNode> {
  if (process.env.TRANSPORT === 'official' || index % 2 === 0) {
    return createNode(defer, options)
  }

  return createNode(defer, {
    ...options,
    connectionEncrypters: [optimistic(noise())],
    streamMuxers: [optimistic(yamux())]
  })
}

/**
 * Looks, when all runs are done and before the node stops, whether one of them
 * has left something open
 */
export function expectNothingOpen (defer: Defer, node: TestNode): void {
  defer(async () => {
    await until(() => node.getConnections().length === 0, 'no connection is left')
    await until(() => openSockets() === 0, 'no socket is left')
  })
}
