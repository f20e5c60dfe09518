import { spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { Toxiproxy } from 'toxiproxy-node-client'
import { endWithUs } from '../../fixtures/end-with-us.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { toxiproxyBinary } from './build.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { ICreateToxicBody } from 'toxiproxy-node-client'

/**
 * One thing that is done to what passes. `upstream` is the way to the listener,
 * `downstream` the way back.
 */
export type Poison = Pick<ICreateToxicBody<any>, 'type' | 'stream' | 'attributes'>

export interface PoisonedLink {
  port: number

  /**
   * Also poisons what passes on connections that are open
   */
  poison(poison: Poison): Promise<void>
  remove(): Promise<void>
}

export interface ToxiproxyServer {
  /**
   * A port that leads to another one
   */
  link(target: number, poisons?: Poison[]): Promise<PoisonedLink>
}

const START_TIMEOUT = 10_000

/**
 * Starts a server for the running scenario.
 */
export async function startToxiproxy (defer: Defer, seed: number): Promise<ToxiproxyServer> {
  // it cannot tell which port it has chosen
  const port = await freePort()
  const server = spawn(toxiproxyBinary, ['-host', '127.0.0.1', '-port', `${port}`, '-seed', `${seed}`], { stdio: 'ignore' })
  endWithUs(server)
  const exited = once(server, 'exit')

  defer(async () => {
    server.kill('SIGKILL')
    await exited
  })

  await listens(port)

  const client = new Toxiproxy(`http://127.0.0.1:${port}`)
  let links = 0

  return {
    async link (target, poisons = []) {
      const proxy = await client.createProxy({ name: `link-${++links}`, listen: '127.0.0.1:0', upstream: `127.0.0.1:${target}` })

      const link: PoisonedLink = {
        port: Number(proxy.listen.split(':').at(-1)),
        poison: async ({ type, stream, attributes }) => {
          await proxy.addToxic({ name: `${type}-${stream}`, type, stream, attributes, toxicity: 1 })
        },
        remove: async () => proxy.remove()
      }

      for (const poison of poisons) {
        await link.poison(poison)
      }

      return link
    }
  }
}

async function listens (port: number): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT

  while (!await connects(port)) {
    if (performance.now() > deadline) {
      throw new Error(`toxiproxy did not start within ${START_TIMEOUT} ms`)
    }
  }
}

async function connects (port: number): Promise<boolean> {
  const socket = net.connect({ host: '127.0.0.1', port })

  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
