import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient } from '../fixtures/peers.ts'
import { itIf } from '../fixtures/skip.ts'
import { until } from '../fixtures/waiting.ts'
import type { Socket } from 'node:net'

const LIMIT = 64

async function echoes (socket: Socket): Promise<boolean> {
  socket.write('anyone?')

  const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => [])

  return data?.toString() === 'anyone?'
}

describe('a listener without file descriptors', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  itIf(process.platform !== 'win32')('says so, and accepts again when there are some', async () => {
    const child = runChild(defer, 'echo-listener.ts', [], { under: ['sh', '-c', `ulimit -n ${LIMIT} && exec "$@"`, 'sh'] })
    const port = await child.says()
    const sockets: Socket[] = []
    const refused = new Set<Socket>()

    async function status (): Promise<any> {
      child.tell('status')
      return child.says()
    }

    async function noDescriptors (): Promise<number> {
      return (await status()).errors[`127.0.0.1:${port} no_descriptors`] ?? 0
    }

    expect(await noDescriptors()).to.equal(0)

    for (let i = 0; i < LIMIT; i++) {
      const socket = await rawClient(defer, port)

      socket.on('end', () => { refused.add(socket) })
      socket.resume()
      sockets.push(socket)
    }

    await until(() => refused.size > 0, 'libuv has closed what it cannot accept')
    // counted for every second
    await until(async () => await noDescriptors() >= 2, 'the listener has noticed')

    const { logged } = await status()
    expect(logged).to.have.lengthOf(1, 'once, not every second')
    expect(logged[0]).to.include(`no file descriptor is left: connections to 127.0.0.1:${port} are closed`)

    sockets.forEach(socket => { socket.destroy() })
    await until(async () => echoes(await rawClient(defer, port)), 'the listener accepts again', 1_000)

    const before = await noDescriptors()
    await delay(2_500)
    expect(await noDescriptors()).to.be.lessThan(before + 2, 'it is over')

    await child.end()
    expect(await child.exited).to.equal(0)
  })
})
