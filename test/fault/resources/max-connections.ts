import { rawClient } from '../../fixtures/peers.ts'
import { until } from '../../fixtures/waiting.ts'
import { echoProcess, echoes, msUntilAccepting } from './echo-process.ts'
import type { Scenario } from '../scenario.ts'
import type { Socket } from 'node:net'

const MAX_CONNECTIONS = 100

/** In one run */
const CONNECTS = 1_000

/** At a time */
const CONCURRENT = 50

export const maxConnections: Scenario = {
  name: `a listener with maxConnections ${MAX_CONNECTIONS} under ${CONNECTS.toLocaleString('en')} connects a run`,
  runs: 10,
  timeout: 60_000,
  async prepare ({ defer }) {
    const { port, status } = await echoProcess(defer, { maxConnections: MAX_CONNECTIONS })

    return async ({ defer, index, injected, measured }) => {
      const held: Socket[] = []
      let refused = 0
      let left = CONNECTS

      const before = await status()
      injected()

      while (held.length < MAX_CONNECTIONS) {
        held.push(await rawClient(defer, port, { localAddress: `127.0.0.${2 + index % 8}` }))
      }

      await until(async () => (await status()).open === MAX_CONNECTIONS, 'all places are taken')

      await Promise.all(Array.from({ length: CONCURRENT }, async () => {
        while (left-- > 0) {
          const socket = await rawClient(() => {}, port, { localAddress: `127.0.0.${2 + left % 8}`, allowHalfOpen: false })

          socket.resume()
          await new Promise(resolve => { socket.on('close', resolve) })
          refused++

          if (refused % 100 === 0) {
            measured('connections at a time', (await status()).open)
          }
        }
      }))

      const after = await status()

      measured('connections at a time', after.open)

      if (after.accepted - before.accepted !== MAX_CONNECTIONS) {
        throw new Error(`accepted ${after.accepted - before.accepted}`)
      }

      if (after.events.drop - (before.events.drop ?? 0) !== CONNECTS) {
        throw new Error(`counted ${after.events.drop - (before.events.drop ?? 0)} drops`)
      }

      if ((await Promise.all(held.map(echoes))).includes(false)) {
        throw new Error('a connection that was accepted suffered')
      }

      held.forEach(socket => { socket.destroy() })
      await until(async () => (await status()).open === 0, 'all places are free')
      measured('ms to accept again', await msUntilAccepting(defer, port, 1_000))
      await until(async () => (await status()).open === 0, 'all places are free again')
    }
  }
}
