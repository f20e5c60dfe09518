import { readFileSync } from 'node:fs'
import { noise } from '@libp2p/noise'
import { tls } from '@libp2p/tls'
import { expect } from 'aegir/chai'
import { Uint8ArrayList } from 'uint8arraylist'
import { optimistic, yamux } from '../../src/index.ts'
import { reusePort } from '../../src/nat/index.ts'
import { SimultaneousOpen } from '../../src/nat/simultaneous-open.ts'
import { encodeProposal } from '../../src/optimistic/codec.ts'
import { DialProposal } from '../../src/optimistic/dial-proposal.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { until } from '../fixtures/waiting.ts'
import { fullBacklog } from '../fixtures/workers.ts'
import { dialer, portOf } from './fixtures/dialer.ts'
import { ECHO, echo, firstByte } from './fixtures/stacks.ts'
import type { Dialer, DialerOptions } from './fixtures/dialer.ts'
import type { TCPDialOptions } from '../../src/index.ts'
import type { Cleanup } from '../fixtures/cleanup.ts'
import type { Connection } from '@libp2p/interface'

const stacks: Record<string, () => DialerOptions> = {
  'Noise, optimistic': () => ({ connectionEncrypters: [noise()], tcp: { reusePort: reusePort() } }),
  'Noise, in full': () => ({ connectionEncrypters: [noise()], tcp: { reusePort: reusePort(), optimistic: false } }),
  'Noise and Yamux, decorated': () => ({ connectionEncrypters: [optimistic(noise())], streamMuxers: [yamux()], tcp: { reusePort: reusePort() } }),
  'TLS, optimistic': () => ({ connectionEncrypters: [tls()], tcp: { reusePort: reusePort() } }),
  'TLS, in full': () => ({ connectionEncrypters: [tls()], tcp: { reusePort: reusePort(), optimistic: false } }),
  'TLS and Yamux, decorated': () => ({ connectionEncrypters: [optimistic(tls())], streamMuxers: [yamux()], tcp: { reusePort: reusePort() } })
}

describe('a simultaneous open', () => {
  const defer = cleanUpAfterEach()

  skipUnless(canReusePort)

  async function node (options: DialerOptions, port = 0): Promise<Dialer> {
    const made = await dialer(defer, { ...options, addresses: { listen: [`/ip4/127.0.0.1/tcp/${port}`] } })
    await made.node.handle(ECHO, echo)

    return made
  }

  /**
   * Two nodes whose dials become one connection: the first one's SYN is lost, since the
   * queue of the port that it goes to is full, and the second one dials from that port before the
   * kernel repeats it, a second later
   */
  async function collide (stack: () => DialerOptions, first: Partial<TCPDialOptions> = {}, second: Partial<TCPDialOptions> = {}): Promise<{ nodes: [Dialer, Dialer], dials: [Promise<Connection>, Promise<Connection>] }> {
    const cleanups: Cleanup[] = []
    const port = await fullBacklog(cleanup => { cleanups.push(cleanup) })
    const one = await node(stack())
    const dialing = one.dial(`/ip4/127.0.0.1/tcp/${port}`, first)
    await until(() => isDialing(portOf(one.node), port), 'the SYN is on its way')

    for (const cleanup of cleanups) {
      await cleanup()
    }

    const other = await node(stack(), port)

    return {
      nodes: [one, other],
      dials: [dialing, other.dial(`/ip4/127.0.0.1/tcp/${portOf(one.node)}`, second)]
    }
  }

  for (const [name, stack] of Object.entries(stacks)) {
    it(`is a connection if one of both is not the initiator: ${name}`, async () => {
      const { nodes: [one, other], dials } = await collide(stack, { initiator: false })
      const [inbound, outbound] = await Promise.all(dials)

      expect(inbound).to.have.property('direction', 'inbound')
      expect(outbound).to.have.property('direction', 'outbound')
      expect(inbound.remotePeer.equals(other.node.peerId)).to.be.true()
      expect(await firstByte(await inbound.newStream(ECHO))).to.equal(42)
      expect(await firstByte(await outbound.newStream(ECHO))).to.equal(42)
      // it is one connection, which nobody accepted
      expect(one.node.getConnections()).to.have.lengthOf(1)
      expect(other.node.getConnections()).to.have.lengthOf(1)
    })

    it(`is two connections if both are the initiator: ${name}`, async () => {
      const { nodes: [one, other], dials } = await collide(stack)

      for (const connection of await Promise.all(dials)) {
        expect(connection).to.have.property('direction', 'outbound')
        expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
      }

      expect(one.progress).to.deep.equal(['tcp:open-connection', 'tcp:redial', 'tcp:open-connection'])
      expect(other.progress).to.deep.equal(one.progress)
    })
  }

  it('is not dialed again after the signal has fired', async () => {
    const controller = new AbortController()
    const { dials: [first, second] } = await collide(stacks['Noise, optimistic'], {
      signal: controller.signal,
      onProgress: ({ type }) => {
        if (type === 'tcp:local-port') {
          controller.abort()
        }
      }
    })

    await expect(first).to.eventually.be.rejected.with.property('name', 'AbortError')
    await expect(second).to.eventually.be.rejected()
  })
})

/** Whether the kernel has sent a SYN from this port of 127.0.0.1 to that one and has no answer */
function isDialing (from: number, to: number): boolean {
  const SYN_SENT = '02'
  const address = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`

  return readFileSync('/proc/net/tcp', 'latin1').includes(`${address(from)} ${address(to)} ${SYN_SENT}`)
}

describe('who is at the other end of a connection that we dialed', () => {
  const NOISE_1 = [0, 32, 1, 2, 3, 4]
  const NOISE_2 = [0, 200, 1, 2, 3, 4]
  const CLIENT_HELLO = [22, 3, 1, 1, 0, 1]
  const SERVER_HELLO = [22, 3, 3, 0, 90, 2]

  const cases: Array<{ name: string, protocol: string, handshake: number[], state: string }> = [
    { name: 'Noise, a dialer', protocol: '/noise', handshake: NOISE_1, state: 'found' },
    { name: 'Noise, a listener', protocol: '/noise', handshake: NOISE_2, state: 'none' },
    { name: 'TLS, a dialer', protocol: '/tls/1.0.0', handshake: CLIENT_HELLO, state: 'found' },
    { name: 'TLS, a listener', protocol: '/tls/1.0.0', handshake: SERVER_HELLO, state: 'none' },
    { name: 'another encrypter', protocol: '/other', handshake: NOISE_1, state: 'none' }
  ]

  for (const { name, protocol, handshake, state } of cases) {
    for (const inner of ['over an optimistic negotiation', 'alone'] as const) {
      it(`shows in the first bytes, wherever they are split: ${name}, ${inner}`, () => {
        const proposal = encodeProposal(protocol)
        const bytes = Uint8Array.from([...proposal, ...handshake, 9, 9])

        for (let size = 1; size <= bytes.byteLength; size++) {
          const filter = new SimultaneousOpen(inner === 'alone' ? undefined : new DialProposal())
          filter.onSend(new Uint8ArrayList(proposal))
          const received: number[] = []

          try {
            for (let i = 0; i < bytes.byteLength; i += size) {
              const data = bytes.subarray(i, i + size)
              received.push(...filter.done ? data : filter.onReceive(data))
            }
          } catch (err: any) {
            expect(err.name).to.equal('PlanError')
          }

          expect(filter.state).to.equal(state)
          expect(filter.done).to.be.true()

          if (state === 'none') {
            expect(received).to.deep.equal([...bytes.subarray(inner === 'alone' ? 0 : proposal.byteLength)])
          }
        }
      })
    }
  }

  it('shows in the end, if that follows the reply', () => {
    const proposal = encodeProposal('/noise')
    const filter = new SimultaneousOpen()
    filter.onSend(new Uint8ArrayList(proposal))
    filter.onReceive(proposal)
    expect(() => { filter.onEnd() }).to.throw().with.property('name', 'PlanError')
  })

  it('does not show in an end before the reply, or in the handshake', () => {
    const proposal = encodeProposal('/noise')

    for (const bytes of [proposal.subarray(0, -1), Uint8Array.from([...proposal, 0])]) {
      const filter = new SimultaneousOpen()
      filter.onSend(new Uint8ArrayList(proposal))
      filter.onReceive(bytes)
      filter.onEnd()
      expect(filter.state).to.equal('watching')
    }
  })

  it('does not show where nothing was proposed', () => {
    const passing = new SimultaneousOpen()
    passing.onSend(new Uint8ArrayList(Uint8Array.of(1, 2, 3)))
    expect(passing.state).to.equal('none')

    const silent = new SimultaneousOpen()
    expect(silent.onReceive(Uint8Array.of(1))).to.deep.equal(Uint8Array.of(1))
    expect(silent.state).to.equal('none')
  })
})
