import { createNode } from '../fixtures/node.ts'
import { openSockets, until } from '../fixtures/waiting.ts'
import { stack } from '../lab/stacks.ts'
import type { Defer } from '../fixtures/cleanup.ts'
import type { TestNode, TestNodeOptions } from '../fixtures/node.ts'

/** Every other node of ours saves the round trips of encrypter and muxer too */
export async function nodeOf (defer: Defer, index: number, options: TestNodeOptions = {}, encrypter?: unknown): Promise<TestNode> {
  const isStock = process.env.TRANSPORT === 'official' || index % 2 === 0
  const { connectionEncrypters, streamMuxers } = stack(isStock ? 'official' : 'ours', { encrypter })

  return createNode(defer, { connectionEncrypters, streamMuxers, ...options })
}

/** Looks, when all runs are done and before the node stops, whether one of them has left something open */
export function expectNothingOpen (defer: Defer, node: TestNode): void {
  defer(async () => {
    await until(() => node.getConnections().length === 0, 'no connection is left')
    await until(() => openSockets() === 0, 'no socket is left')
  })
}
