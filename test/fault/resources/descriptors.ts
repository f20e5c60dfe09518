import { setTimeout as delay } from 'node:timers/promises'
import { rawClient } from '../../fixtures/peers.ts'
import { echoProcess, msUntilAccepting } from './echo-process.ts'
import type { Scenario } from '../scenario.ts'
import type { Socket } from 'node:net'

const LIMIT = 256

/** How long the process has no descriptor left, in ms */
const LASTS = 10_000

/** How soon it must accept again, in ms */
const RECOVERS = 1_000

export const descriptors: Scenario = {
  name: `a process that may have ${LIMIT} descriptors has none left for ${LASTS / 1_000} s`,
  runs: 1,
  timeout: 60_000,
  async prepare () {
    return async ({ defer, injected, measured }) => {
      const { port, status } = await echoProcess(defer, {}, ['sh', '-c', `ulimit -n ${LIMIT} && exec "$@"`, 'sh'])
      const sockets = new Set<Socket>()
      const refused = new Set<Socket>()
      const end = performance.now() + LASTS

      while (performance.now() < end) {
        const socket = await rawClient(defer, port)

        sockets.add(socket)
        socket.resume()
        socket.on('close', () => { sockets.delete(socket) })
        socket.on('end', () => {
          refused.add(socket)
          socket.end()
        })

        // slow enough for the ports to last
        if (refused.size > 0) {
          await delay(5)
        }
      }

      injected()

      if (refused.size === 0) {
        throw new Error('there were descriptors left')
      }

      const { errors } = await status()
      const seconds = errors.no_descriptors ?? 0

      measured('connections that libuv closed', refused.size)

      sockets.forEach(socket => { socket.destroy() })
      measured('ms to accept again', await msUntilAccepting(defer, port, RECOVERS))

      // a check a second, of which the first may have found one left
      if (seconds < LASTS / 1_000 - 3) {
        throw new Error(`the metrics show ${seconds} s without descriptors`)
      }
    }
  }
}
