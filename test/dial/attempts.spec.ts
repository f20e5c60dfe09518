import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { PlanError } from '../../src/connector.ts'
import { MAX_ATTEMPTS } from '../../src/dial/plan.ts'
import { reusePort } from '../../src/nat/index.ts'
import { pluginFor } from '../../src/plugin.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { passThrough, rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { openSockets, until } from '../fixtures/waiting.ts'
import { NA, NOISE } from '../negotiation/fixtures/proposals.ts'
import type { ConnectOptions, Connector, EstablishingState } from '../../src/connector.ts'

describe('a dial that everything speaks against', () => {
  const defer = cleanUpAfterEach()

  skipUnless(canReusePort && process.env.TRANSPORT !== 'official')

  it(`ends after ${MAX_ATTEMPTS} attempts: the port is taken, the cookie is lost, the peer refuses the optimistic negotiation and the other one`, async () => {
    const opened: string[] = []
    const progress: string[] = []
    let cookie: EstablishingState = 'pending'

    /** Calls each connect by what it does without */
    function counting (name: string, inner: Connector): Connector {
      return {
        open: async (target, options: ConnectOptions, signal, plan) => {
          opened.push(`${name}, ${options.sharesPort === true ? 'listening port' : 'any port'}`)

          if (options.sharesPort === true) {
            throw Object.assign(new Error('taken'), { code: 'EADDRINUSE' })
          }

          const { socket } = await inner.open(target, options, signal, plan)
          socket.once('data', () => {})

          return {
            socket,
            established: {
              look: () => cookie,
              error: new PlanError('cookie-lost', 'The cookie is gone', new Error('write EINPROGRESS')),
              settled: async () => {},
              end: () => {}
            }
          }
        }
      }
    }

    const linux = pluginFor('linux', (_, below) => ({
      ...below,
      connector: {
        open: async (target, options, signal, plan) => (plan.fastOpen ? counting('Fast Open', below.connector) : below.connector).open(target, options, signal, plan)
      }
    }))
    const sockets: number[] = []
    const { addr } = await rawPeer(defer, { allowHalfOpen: false, onSocket: socket => { sockets.push(socket.remotePort as number); socket.write(NA); socket.resume() } })
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort(), linux })
    await listen()
    const before = openSockets()
    let upgrades = 0

    await expect(dial(addr, {
      onProgress: ({ type }: any) => { progress.push(type) },
      upgrader: passThrough(async maConn => {
        upgrades++
        cookie = 'failed'
        maConn.send(NOISE)

        // what an upgrader does with a refusal in full
        if (upgrades === 3) {
          throw new Error('refused in full')
        }

        await pEvent(maConn, 'close')
        throw new Error('the connection closed')
      })
    })).to.eventually.be.rejectedWith('refused in full')

    expect(opened).to.deep.equal(['Fast Open, listening port', 'Fast Open, any port'])
    // a port that is taken sends no SYN
    expect(upgrades).to.equal(MAX_ATTEMPTS - 1)
    await until(() => sockets.length === MAX_ATTEMPTS - 1, 'the peer has seen them')
    expect(progress.filter(type => type === 'tcp:redial')).to.have.lengthOf(2)
    expect(progress.filter(type => type === 'tcp:local-port')).to.have.lengthOf(MAX_ATTEMPTS - 1)
    await until(() => openSockets() <= before, 'no socket is left')
  })
})
