import { serviceCapabilities, serviceDependencies } from '@libp2p/interface'
import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { optimistic, tcp } from '../../src/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { muxers } from './fixtures/muxers.ts'
import { bareNode } from './fixtures/stacks.ts'
import type { StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

/** A muxer that tells when the node starts and stops it, and what it provides and needs */
class LivingMuxerFactory implements StreamMuxerFactory {
  readonly events: string[] = []
  readonly #factory = yamux()()
  readonly protocol = this.#factory.protocol
  readonly [serviceCapabilities] = ['@test/muxer']
  readonly [serviceDependencies] = ['@libp2p/transport']

  createStreamMuxer (...args: Parameters<StreamMuxerFactory['createStreamMuxer']>): StreamMuxer {
    return this.#factory.createStreamMuxer(...args)
  }

  start (): void {
    this.events.push('start')
  }

  async stop (): Promise<void> {
    this.events.push('stop')
  }
}

describe('what is decorated', () => {
  const defer = cleanUpAfterEach()

  it('is started and stopped with the node', async () => {
    const muxer = new LivingMuxerFactory()
    const node = await bareNode(defer, { transports: [tcp()], streamMuxers: [optimistic(() => muxer)] })

    await node.stop()
    expect(muxer.events).to.deep.equal(['start', 'stop'])
  })

  it('says what it provides and needs', async () => {
    const muxer = new LivingMuxerFactory()
    let decorated: any

    await bareNode(defer, {
      transports: [tcp()],
      streamMuxers: [components => {
        decorated = optimistic(() => muxer)(components)

        return decorated
      }]
    })

    expect(decorated[serviceCapabilities]).to.deep.equal(['@test/muxer'])
    expect(decorated[serviceDependencies]).to.deep.equal(['@libp2p/transport'])
  })

  for (const [name, factory] of Object.entries(muxers)) {
    it(`provides a muxer, if it is ${name}`, async () => {
      let decorated: any

      await bareNode(defer, {
        streamMuxers: [components => {
          decorated = optimistic(factory)(components)

          return decorated
        }]
      })

      expect(decorated[serviceCapabilities]).to.deep.equal(['@libp2p/stream-multiplexing'])
    })
  }
})
