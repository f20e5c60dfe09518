import { spawnSync } from 'node:child_process'
import net from 'node:net'
import { noise } from '@libp2p/noise'
import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { tcp } from '../../src/index.ts'
import { linux } from '../../src/linux/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { passThrough, rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { until, within } from '../fixtures/waiting.ts'
import { dialer, portOf } from '../negotiation/fixtures/dialer.ts'
import { NOISE } from '../negotiation/fixtures/proposals.ts'
import { EAGER, ECHO, bareNode, echo, firstByte } from '../negotiation/fixtures/stacks.ts'
import { canListen, skipped } from './fixtures/availability.ts'
import type { Libp2p } from '@libp2p/interface'

/** Of these tests alone: they change its firewall */
const isOwnNamespace = process.env.OWN_NAMESPACE === 'true' && canListen

describe(`what a SYN with data can do to a listener${skipped(canListen)}`, () => {
  const defer = cleanUpAfterEach()

  skipUnless(canListen)

  async function listener (queue?: number): Promise<Libp2p> {
    const node = await bareNode(defer, {
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp({ linux: linux({ fastOpen: { queue } }) })],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()]
    })

    await node.handle(ECHO, echo)

    return node
  }

  it('a repeated one begins a handshake that nobody can finish: no connection, no stream', async () => {
    const node = await listener()
    const { dial } = await dialer(defer, { tcp: { linux: linux({ fastOpen: true }) } })
    const { addr, next } = await rawPeer(defer)

    // what somebody on the path reads of a dial
    const controller = new AbortController()
    dial(addr, { signal: controller.signal }).catch(() => {})
    const [flight] = await pEvent<string, [Buffer]>(await next(), 'data', { multiArgs: true })
    controller.abort()

    // what comes of it when he sends it again and again
    const opened: unknown[] = []
    node.addEventListener('connection:open', event => { opened.push(event) })

    for (let i = 0; i < 10; i++) {
      const socket = net.connect({ host: '127.0.0.1', port: portOf(node) })
      socket.on('error', () => {})
      defer(() => { socket.destroy() })
      socket.write(flight)

      const [answer] = await within(2_000, 'the answer', pEvent<string, [Buffer]>(socket, 'data', { multiArgs: true }))
      expect(answer.subarray(0, 20)).to.equalBytes(NOISE.subarray(0, 20))
      // and the third message, which needs the key that he does not have
      socket.write(flight.subarray(NOISE.byteLength))
      await within(5_000, 'the end', pEvent(socket.resume(), 'close', { rejectionEvents: [] }))
    }

    expect(opened).to.be.empty()

    // the listener serves others as before
    const other = await dialer(defer, { tcp: { linux: linux({ fastOpen: true }) } })
    const connection = await other.dial(node.getMultiaddrs()[0].toString())
    expect(await firstByte(await connection.newStream(ECHO, EAGER))).to.equal(42)
  })

  it('no more than the queue holds take part before they have shown that they are where they say', async function () {
    if (!isOwnNamespace || spawnSync('nft', ['--version']).status !== 0) {
      this.skip()
    }

    const QUEUE = 4
    const DIALS = 12
    let accepted = 0
    const { listen, dial } = rawTransport(defer, { linux: linux({ fastOpen: { queue: QUEUE } }) })
    const { addr, port } = await listen(undefined, { onInbound () { accepted++ } })
    const cookie = await dial(addr)
    await until(() => accepted === 1, 'it has a cookie')
    await cookie.close()

    // as with a spoofed address, the answers of the listener reach nobody
    run(`nft 'add table ip spoofed; add chain ip spoofed input { type filter hook input priority 0; }; add rule ip spoofed input tcp sport ${port} drop'`)
    defer(() => { run('nft delete table ip spoofed') })
    const before = overflows()

    for (let i = 0; i < DIALS; i++) {
      dial(addr, {
        signal: AbortSignal.timeout(900),
        upgrader: passThrough(maConn => { maConn.send(Uint8Array.of(1)) })
      }).catch(() => {})
    }

    await until(() => accepted === 1 + QUEUE, 'the queue is full')
    await until(() => overflows() - before >= DIALS - QUEUE, 'the data of all others was refused')
    expect(accepted).to.equal(1 + QUEUE)
    expect(overflows() - before).to.equal(DIALS - QUEUE)
  })
})

function run (command: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })

  if (status !== 0) {
    throw new Error(`${command}: ${stderr}`)
  }

  return stdout
}

/** SYNs whose data was not taken, since the queue was full */
function overflows (): number {
  return Number(/TCPFastOpenListenOverflow\s+(\d+)/.exec(run('nstat -asz TcpExtTCPFastOpenListenOverflow'))?.[1])
}
