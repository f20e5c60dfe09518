import { expect } from 'aegir/chai'
import { turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { openSockets, until, within } from '../fixtures/waiting.ts'
import { dialer } from './fixtures/dialer.ts'
import { HEADER, NA, NOISE } from './fixtures/proposals.ts'
import { remote, reply } from './fixtures/remote.ts'
import type { DialerOptions } from './fixtures/dialer.ts'
import type { Behaviour } from './fixtures/remote.ts'

interface AwaitPoint {
  /** What the remote does */
  behaviours: Behaviour[]

  /** Abort at this progress event, the first or the second of its kind ... */
  progress?: string
  nth?: number

  /** ... or when the remote has accepted so many connections and got so many bytes over the last one */
  visits?: number
  bytes?: number

  options?: DialerOptions

  /** How many connections the remote may see at most */
  connections: number
}

const PROPOSED = NOISE.byteLength
const HANDSHAKING = PROPOSED + 2 + 32

/** A dial that does not heed its signal ends after 10 s or more. In ms */
const PATIENCE = 8_000

describe('a dial that is aborted', () => {
  const defer = cleanUpAfterEach()

  const points: Record<string, AwaitPoint> = {
    'before it connects': { behaviours: [reply(NOISE)], progress: 'tcp:open-connection', connections: 1 },
    'before it proposes': { behaviours: [reply(NOISE)], progress: 'upgrader:encrypt-outbound-connection', connections: 1 },
    'while the peer is silent': { behaviours: [() => {}], visits: 1, bytes: HANDSHAKING, connections: 1 },
    'while the reply is not whole': { behaviours: [reply(HEADER)], visits: 1, bytes: HANDSHAKING, connections: 1 },
    'while one byte of the reply is left': { behaviours: [reply(NOISE.subarray(0, -1))], visits: 1, bytes: HANDSHAKING, connections: 1 },
    'in the handshake': { behaviours: [reply(NOISE)], visits: 1, bytes: HANDSHAKING, connections: 1 },
    'in the handshake, with optimism off': { behaviours: [reply(NOISE)], options: { tcp: { optimistic: false } }, visits: 1, bytes: HANDSHAKING, connections: 1 },
    'when it is refused': { behaviours: [reply(NA)], progress: 'tcp:redial', connections: 1 },
    'before it connects again': { behaviours: [reply(NA)], progress: 'tcp:open-connection', nth: 2, connections: 2 },
    'before it proposes again': { behaviours: [reply(NA), reply(NOISE)], progress: 'upgrader:encrypt-outbound-connection', nth: 2, connections: 2 },
    'while the peer is silent the second time': { behaviours: [reply(NA), () => {}], visits: 2, bytes: PROPOSED, connections: 2 },
    'while the second reply is not whole': { behaviours: [reply(NA), reply(HEADER)], visits: 2, bytes: PROPOSED, connections: 2 },
    'in the second handshake': { behaviours: [reply(NA), reply(NOISE)], visits: 2, bytes: HANDSHAKING, connections: 2 }
  }

  for (const [name, point] of Object.entries(points)) {
    it(`${name} rejects at once with AbortError and leaves no socket`, async () => {
      const before = openSockets()
      const { addr, left, visits } = await remote(defer, point.behaviours)
      const { dial } = await dialer(defer, point.options)
      const controller = new AbortController()
      const reason = new Error('enough')
      let seen = 0

      const dialed = dial(addr, {
        signal: controller.signal,
        onProgress (event) {
          if (event.type === point.progress && ++seen === (point.nth ?? 1)) {
            controller.abort(reason)
          }
        }
      })
      dialed.catch(() => {})

      if (point.visits != null) {
        const { bytes = 0 } = point
        await until(() => visits.length === point.visits && (visits.at(-1)?.received.byteLength ?? 0) >= bytes, 'the dial has come so far')
        controller.abort(reason)
      }

      const error = await within(PATIENCE, 'the dial', dialed.then(() => expect.fail('dialed'), err => err))

      expect(error).to.have.property('name', 'AbortError')
      expect(error).to.have.property('cause', reason)

      await left()
      await until(() => openSockets() === before, 'all sockets are closed', 2_000)
      await turns(20)
      expect(visits.length).to.be.at.most(point.connections)
    })
  }

  it('by a time-out, after any part of the reply, is not repeated', async () => {
    const { dial, counted } = await dialer(defer)
    const remotes = await Promise.all(Array.from({ length: NOISE.byteLength }, async (_, bytes) => {
      return remote(defer, [reply(NOISE.subarray(0, bytes))])
    }))

    await Promise.all(remotes.map(async ({ addr, left, visits }) => {
      const dialed = dial(addr, { signal: AbortSignal.timeout(300) })

      await expect(dialed).to.eventually.be.rejected.with.property('name', 'AbortError')
      await left()
      expect(visits).to.have.lengthOf(1)
    }))

    expect(counted()).to.deep.equal({})
  })

  it('does not make the next one negotiate in full', async () => {
    const { addr, left, visits } = await remote(defer, [() => {}])
    const { dial } = await dialer(defer)

    for (let dials = 1; dials <= 2; dials++) {
      const controller = new AbortController()
      const dialed = dial(addr, { signal: controller.signal })
      dialed.catch(() => {})

      await until(() => visits.at(dials - 1)?.received.byteLength === HANDSHAKING, 'the handshake came with the proposal')
      controller.abort()
      await expect(dialed).to.eventually.be.rejected.with.property('name', 'AbortError')
    }

    await left()
  })

  it('before it begins, opens no socket', async () => {
    const { addr, visits } = await remote(defer, [reply(NOISE)])
    const { dial } = await dialer(defer)

    await expect(dial(addr, { signal: AbortSignal.abort() })).to.eventually.be.rejected.with.property('name', 'AbortError')
    await turns(20)
    expect(visits).to.be.empty()
  })

  it('by a progress handler, while the address is looked up for ever, rejects at once', async () => {
    const { dial } = await dialer(defer, { tcp: { dialOpts: { lookup: () => {} } } })
    const controller = new AbortController()
    const dialed = dial('/dns4/localhost/tcp/1', {
      signal: controller.signal,
      onProgress (event) {
        if (event.type === 'tcp:open-connection') {
          controller.abort()
        }
      }
    })
    dialed.catch(() => {})

    const error = await within(PATIENCE, 'the dial', dialed.then(() => expect.fail('dialed'), err => err))
    expect(error).to.have.property('name', 'AbortError')
  })
})
