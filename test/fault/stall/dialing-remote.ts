/*
 * A node that dials who is about to block: `dialing-remote.ts "<address>" <count>`
 * tells how many of its connections answer a ping in the end.
 */
import { createInterface } from 'node:readline'
import { multiaddr } from '@multiformats/multiaddr'
import { createNode } from '../../fixtures/node.ts'
import { tell } from '../../lab/process/lines.ts'

const [address, count] = process.argv.slice(2).map(arg => JSON.parse(arg))
// dials of one node at the same time would end up in one connection
const nodes = await Promise.all(Array.from({ length: count }, async () => createNode(() => {})))

createInterface({ input: process.stdin }).once('line', async () => {
  const results = await Promise.allSettled(nodes.map(async node => {
    tell('dialing')
    const connection = await node.dial(multiaddr(address))
    await node.services.ping.ping(connection.remotePeer)
  }))

  tell(results.filter(({ status }) => status === 'fulfilled').length)
})

tell('ready')
