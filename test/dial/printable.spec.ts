import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { CONTROL_CHARACTERS, controlCharacters, rawLines } from '../fixtures/control-characters.ts'
import { logLines } from '../fixtures/log-lines.ts'
import { hasUnixSockets } from '../fixtures/machine.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { passThrough, rawTransport } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until } from '../fixtures/waiting.ts'
import { seededRandom } from '../lab/process/random.ts'
import type { MultiaddrConnection, Upgrader } from '@libp2p/interface'
import type { LookupFunction } from 'node:net'

const SEED = 5
const STRINGS = isThorough ? 1_000 : 200

async function quote (conn: MultiaddrConnection): Promise<never> {
  // as the upgrader does
  conn.log = conn.log.newScope('scope')

  const { data } = await pEvent<'message', any>(conn, 'message')

  throw new Error(`cannot understand ${new TextDecoder().decode(data.subarray())}`)
}

const notFound: LookupFunction = (hostname, _, callback) => {
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }), [])
}

describe('what comes from a peer stands in no log line as it came', function () {
  this.timeout(60_000)

  const defer = cleanUpAfterEach()

  it(`${STRINGS} names in addresses to dial`, async () => {
    const random = seededRandom(SEED)
    const { logger, lines } = logLines(defer)
    const { dial } = rawTransport(defer, { dialOpts: { lookup: notFound } }, { logger })

    for (let i = 0; i < STRINGS; i++) {
      // with the slash it would be another address
      const name = controlCharacters(random).replaceAll('/', '')
      const error = await dial(multiaddr(`/dns4/${name}/tcp/1`)).catch(err => err)

      // the latter for a NUL
      expect(error).to.have.property('name').that.is.oneOf(['ConnectionFailedError', 'InvalidParametersError'])
      expect(error.message).not.to.match(CONTROL_CHARACTERS)
    }

    expect(lines).to.have.lengthOf.at.least(STRINGS)
    expect(rawLines(lines)).to.be.empty(`with seed ${SEED}`)
  })

  it('and none is longer for what a name looks like', async () => {
    const { logger, lines } = logLines(defer)
    const name = '$&'.repeat(20_000)
    const { dial } = rawTransport(defer, { dialOpts: { lookup: notFound } }, { logger })

    await expect(dial(multiaddr(`/dns4/${name}/tcp/1`))).to.eventually.be.rejected.with.property('code', 'ENOTFOUND')
    expect(lines.some(line => line.includes(name))).to.be.true()
    expect(Math.max(...lines.map(({ length }) => length))).to.be.below(10 * name.length)
  })

  itIf(hasUnixSockets, 'unix sockets')('paths of unix sockets', async () => {
    const { logger, lines } = logLines(defer)
    const { dial } = rawTransport(defer, {}, { logger })
    const error = await dial(`/unix/${encodeURIComponent('/nowhere\n\x1b[31m')}`).catch(err => err)

    expect(error.message).to.include('/nowhere\\u{a}\\u{1b}[31m')
    expect(rawLines(lines)).to.be.empty()
  })

  it(`${STRINGS} messages that errors quote, of dialers`, async () => {
    const random = seededRandom(SEED)
    const { logger, lines } = logLines(defer)
    const { listen } = rawTransport(defer, {}, { logger })
    const { port } = await listen(undefined, { onInbound: quote })

    for (let i = 0; i < STRINGS; i++) {
      const socket = await rawClient(() => {}, port)
      socket.end(`.${controlCharacters(random)}`)
      socket.resume()
      await pEvent(socket, 'close', { rejectionEvents: [] })
    }

    await until(() => lines.filter(line => line.includes('cannot understand')).length >= 2 * STRINGS, 'upgrade and abort are logged')
    expect(rawLines(lines)).to.be.empty(`with seed ${SEED}`)
  })

  it(`${STRINGS} messages that errors quote, of listeners`, async () => {
    const random = seededRandom(SEED)
    const { logger, lines } = logLines(defer)
    const { dial } = rawTransport(() => {}, {}, { logger })
    const { addr } = await rawPeer(defer, { onSocket: socket => { socket.end(`.${controlCharacters(random)}`).resume() } })
    const upgrader = { ...passThrough(), upgradeOutbound: quote } as unknown as Upgrader

    for (let i = 0; i < STRINGS; i++) {
      const error = await dial(addr, { upgrader }).catch(err => err)
      expect(error).to.have.property('message').that.includes('cannot understand', 'the error itself is left as it is')
    }

    expect(lines.filter(line => line.includes('cannot understand'))).to.have.lengthOf.at.least(STRINGS)
    expect(rawLines(lines)).to.be.empty(`with seed ${SEED}`)
  })

  it('the parts of an error that has several', async () => {
    const { logger, lines } = logLines(defer)
    const { dial } = rawTransport(defer, {}, { logger })
    const { addr } = await rawPeer(defer)
    const upgrader = {
      ...passThrough(),
      async upgradeOutbound () {
        throw new AggregateError([new Error('one\nforged'), new Error('two\x1b[31m')], 'several\nforged')
      }
    } as unknown as Upgrader

    await dial(addr, { upgrader }).catch(() => {})

    const aggregate = lines.filter(line => line.includes('several'))
    expect(aggregate).to.not.be.empty()
    expect(aggregate[0]).to.include('several\\u{a}forged').and.include('one\\u{a}forged').and.include('two\\u{1b}[31m')
  })
})
