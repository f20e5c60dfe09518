import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { mergeDialOptions, mergeListenOptions } from '../../src/settings.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { check, seed } from './fixtures/check.ts'
import { checkConcurrently } from './fixtures/concurrently.ts'
import type { LookupFunction } from 'node:net'

const lookup: LookupFunction = (_, __, callback) => { callback(null, '127.0.0.9', 4) }

const DEFAULTS = { noDelay: true, keepAlive: true, allowHalfOpen: false }

/** What a caller may set for one dial or one listener, by the documentation */
const common = {
  noDelay: fc.boolean(),
  keepAlive: fc.boolean(),
  keepAliveInitialDelay: fc.nat(100_000),
  allowHalfOpen: fc.boolean()
}

const forDials = {
  ...common,
  localAddress: fc.constant('127.0.0.1'),
  localPort: fc.constant(0),
  family: fc.constantFrom(0 as const, 4 as const, 6 as const),
  hints: fc.constant(0),
  lookup: fc.constant(lookup),
  autoSelectFamily: fc.boolean(),
  autoSelectFamilyAttemptTimeout: fc.integer({ min: 10, max: 1_000 }),
  timeout: fc.integer({ min: 20_000, max: 60_000 })
}

const forListeners = {
  ...common,
  ipv6Only: fc.boolean()
}

/** What the multiaddr and the dial decide, and what belongs to the connection */
const reserved = {
  host: fc.constant('127.0.0.9'),
  port: fc.constant(1),
  path: fc.constant('/nowhere/a.sock'),
  fd: fc.constant(0),
  signal: fc.constant(AbortSignal.abort()),
  onread: fc.constant({ buffer: new Uint8Array(1), callback: () => false }),
  handle: fc.constant({}),
  pauseOnConnect: fc.constant(true)
}

/** What Node may know, and we do not */
const others = {
  highWaterMark: fc.integer({ min: 1, max: 100_000 }),
  blockList: fc.constant(undefined),
  somethingNew: fc.string()
}

const merges = [
  { what: 'a dial', merge: mergeDialOptions, documented: forDials },
  { what: 'a listener', merge: mergeListenOptions, documented: forListeners }
]

type Options = Record<string, any>

describe(`properties of the options (seed ${seed})`, () => {
  for (const { what, merge, documented } of merges) {
    const options = some({ ...forDials, ...forListeners, ...reserved, ...others })

    it(`those of ${what} come before the transport's, and they before the defaults, and none is the multiaddr's`, () => {
      check(fc.property(options, options, (configured, specific) => {
        expect(merge(configured, specific)).to.deep.equal({
          ...DEFAULTS,
          ...pick(configured, name => !(name in reserved)),
          ...pick(specific, name => name in documented)
        })
      }))
    })

    it(`what the caller hands over for ${what} is not changed, and neither is what comes of it`, () => {
      check(fc.property(options, options, (configured, specific) => {
        const before = [{ ...configured }, { ...specific }]
        const merged = merge(Object.freeze(configured), Object.freeze(specific))

        expect([configured, specific]).to.deep.equal(before)
        expect(merged).to.not.equal(configured).and.to.not.equal(specific)
        expect(Object.isFrozen(merged)).to.be.true()
      }))
    })
  }

  it('the multiaddr is what is dialed, whatever the options say', async function () {
    const dialed = some({ ...forDials, ...reserved })

    await checkConcurrently(this, fc.tuple(dialed, dialed.map(({ signal, ...specific }) => specific)), async ([configured, specific], defer) => {
      const { addr, next } = await rawPeer(defer)
      const connection = await rawTransport(defer, { dialOpts: Object.freeze(configured) }).dial(addr, Object.freeze(specific))
      const socket = await next()

      connection.send(Uint8Array.of(1))
      expect(socket.remoteAddress).to.equal('127.0.0.1')
      await new Promise(resolve => socket.once('data', resolve))
    })
  })
})

/** Some of these, some of them present but undefined */
function some (arbitraries: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Options> {
  return fc.record(
    Object.fromEntries(Object.entries(arbitraries).map(([name, value]) => [name, fc.option(value, { nil: undefined })])),
    { requiredKeys: [], noNullPrototype: true }
  )
}

function pick (from: Options, isWanted: (name: string) => boolean): Options {
  return Object.fromEntries(Object.entries(from).filter(([name, value]) => isWanted(name) && value !== undefined))
}
