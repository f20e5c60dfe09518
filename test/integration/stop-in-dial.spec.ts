import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { portOf, rawTransport } from '../fixtures/raw.ts'
import { openSockets, until, within } from '../fixtures/waiting.ts'
import type { TestNode } from '../fixtures/node.ts'
import type { LookupFunction } from 'node:net'

/** What does not end by itself ends at a time limit of libp2p, of 10 s: what ends before, in ms, does on a slow machine too */
const PATIENCE = 8_000

/** What a dial of the node calls, in which the node is stopped */
const moments: Record<string, (stop: () => void) => { onProgress?(event: { type: string }): void, lookup?: LookupFunction }> = {
  'the progress event before the socket is opened': stop => ({
    onProgress: ({ type }) => { type === 'tcp:open-connection' && stop() }
  }),
  'the progress event before the encrypter is negotiated': stop => ({
    onProgress: ({ type }) => { type.startsWith('upgrader:encrypt') && stop() }
  }),
  'a look-up that answers at once': stop => ({
    lookup: (_, options, callback) => {
      stop()
      callback(null, options.all === true ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1', 4)
    }
  }),
  'a look-up that answers later': stop => ({
    lookup: (_, options, callback) => {
      stop()
      setImmediate(() => { callback(null, options.all === true ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1', 4) })
    }
  }),
  'a look-up that never answers': stop => ({
    lookup: () => { stop() }
  })
}

describe('js-libp2p #3591 and #3616: stop() in the middle of a dial', () => {
  const defer = cleanUpAfterEach()

  for (const [when, moment] of Object.entries(moments)) {
    for (const stopping of ['dialer', 'listener'] as const) {
      it(`of the ${stopping} in ${when} leaves nothing`, async () => {
        const before = openSockets()
        const nodes: Partial<Record<'dialer' | 'listener', TestNode>> = {}
        let stopped: Promise<void> | undefined
        const { onProgress, lookup } = moment(() => { stopped ??= Promise.resolve(nodes[stopping]?.stop()) })

        nodes.listener = await createNode(defer, { listen: true })
        nodes.dialer = await createNode(defer, { tcp: { dialOpts: { lookup } } })

        const host = lookup == null ? 'ip4/127.0.0.1' : 'dns4/localhost.example'
        const signal = AbortSignal.timeout(stopping === 'listener' ? 1_000 : 10_000)
        const ma = multiaddr(`/${host}/tcp/${portOf(nodes.listener.getMultiaddrs()[0])}`)
        const dialed = await within(PATIENCE, 'the dial', nodes.dialer.dial(ma, { signal, onProgress }).then(conn => conn, err => err))

        expect(stopped, 'the moment came').to.be.a('promise')
        await within(PATIENCE, 'stop()', stopped as Promise<void>)

        if (stopping === 'dialer') {
          expect(dialed, 'the dial').to.be.an('error')
        }

        await Promise.all([nodes.dialer.stop(), nodes.listener.stop()])
        await until(() => openSockets() <= before, 'no socket is left', PATIENCE)
      })
    }
  }

  for (const [when, moment] of Object.entries(moments).filter(([when]) => !when.includes('encrypter'))) {
    it(`of the transport alone in ${when} leaves nothing`, async function () {
      const { addr, port } = await rawPeer(defer, { allowHalfOpen: false, onSocket: socket => { socket.resume() } })
      let stopped: Promise<void> | undefined
      const { onProgress, lookup } = moment(() => { stopped ??= Promise.resolve(transport.stop?.()) })
      const { dial, transport } = rawTransport(defer, { dialOpts: { lookup } })

      if (transport.stop == null) {
        return this.skip()
      }

      const before = openSockets()
      const dialed = within(PATIENCE, 'the dial', dial(lookup == null ? addr : `/dns4/localhost.example/tcp/${port}`, { onProgress }))

      await expect(dialed).to.eventually.be.rejected.with.property('name', 'ConnectionFailedError')
      await within(PATIENCE, 'stop()', stopped as unknown as Promise<void>)
      await until(() => openSockets() <= before, 'no socket is left', PATIENCE)
    })
  }

  it('a transport that was stopped dials again when it is started', async function () {
    const { addr } = await rawPeer(defer)
    const { dial, transport } = rawTransport(defer)

    if (transport.stop == null) {
      return this.skip()
    }

    await dial(addr).then(conn => { conn.abort(new Error('Urk!')) })
    await transport.stop()
    await expect(dial(addr)).to.eventually.be.rejected.with.property('cause').that.has.property('name', 'NotStartedError')
    await transport.start?.()
    expect((await dial(addr)).status).to.equal('open')
  })
})
