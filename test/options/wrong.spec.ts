import { dcutr } from '@libp2p/dcutr'
import { InvalidParametersError } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { noise } from '@libp2p/noise'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { optimistic, tcp } from '../../src/index.ts'
import { linux } from '../../src/linux/index.ts'
import { holePunching } from '../../src/nat/index.ts'
import { createNode } from '../fixtures/node.ts'
import { passThrough } from '../fixtures/raw.ts'

const MS = '0 or more milliseconds'
const BOOLEAN = 'true or false'
const LINUX = 'what linux() of libp2p-fast-tcp/linux returns'
const REUSE_PORT = 'what reusePort() of libp2p-fast-tcp/nat returns'

/** What a caller may pass by mistake, and what follows `The option ` */
const wrong: Array<[init: object, message: string]> = [
  [{ linux: true }, `linux of tcp() must be ${LINUX}, not true`],
  [{ linux }, `linux of tcp() must be ${LINUX}, not a function`],
  [{ linux: {} }, `linux of tcp() must be ${LINUX}, not an object`],
  [{ reusePort: true }, `reusePort of tcp() must be ${REUSE_PORT}, not true`],
  [{ reusePort: 'yes' }, `reusePort of tcp() must be ${REUSE_PORT}, not 'yes' (a string)`],
  [{ optimistic: 'no' }, `optimistic of tcp() must be ${BOOLEAN}, not 'no' (a string)`],
  [{ optimistic }, `optimistic of tcp() must be ${BOOLEAN}, not a function`],
  [{ attemptDelay: true }, 'attemptDelay of tcp() must be false or 10 or more milliseconds, not true'],
  [{ attemptDelay: 0 }, 'attemptDelay of tcp() must be false or 10 or more milliseconds, not 0'],
  [{ closeTimeout: '250' }, `closeTimeout of tcp() must be ${MS}, not '250' (a string)`],
  [{ closeTimeout: 250n }, `closeTimeout of tcp() must be ${MS}, not 250n (a bigint)`],
  [{ stalledWriteTimeout: NaN }, `stalledWriteTimeout of tcp() must be ${MS}, not NaN`],
  [{ inboundSocketInactivityTimeout: -1 }, `inboundSocketInactivityTimeout of tcp() must be ${MS}, not -1`],
  [{ outboundSocketInactivityTimeout: {} }, `outboundSocketInactivityTimeout of tcp() must be ${MS}, not an object`],
  [{ maxConnections: -3 }, 'maxConnections of tcp() must be a number, 0 or more, not -3'],
  [{ maxConnections: '100' }, 'maxConnections of tcp() must be a number, 0 or more, not \'100\' (a string)'],
  [{ maxConnections: NaN }, 'maxConnections of tcp() must be a number, 0 or more, not NaN'],
  [{ backlog: -1 }, 'backlog of tcp() must be a whole number from 0 to 2147483647, not -1'],
  [{ backlog: 1.5 }, 'backlog of tcp() must be a whole number from 0 to 2147483647, not 1.5'],
  // it would be cut to 32 bits, which are 0
  [{ backlog: 2 ** 40 }, 'backlog of tcp() must be a whole number from 0 to 2147483647, not 1099511627776'],
  [{ closeServerOnMaxConnections: 5 }, 'closeServerOnMaxConnections of tcp() must be an object, not 5'],
  [{ closeServerOnMaxConnections: [5, 4] }, 'closeServerOnMaxConnections of tcp() must be an object, not an array'],
  [{ closeServerOnMaxConnections: { closeAbove: 5 } }, 'closeServerOnMaxConnections.listenBelow of tcp() must be a number above 0, not undefined'],
  [{ closeServerOnMaxConnections: { closeAbove: null, listenBelow: 1 } }, 'closeServerOnMaxConnections.closeAbove of tcp() must be a number above 0, not null'],
  [{ closeServerOnMaxConnections: { closeAbove: 5, listenBelow: 0 } }, 'closeServerOnMaxConnections.listenBelow of tcp() must be a number above 0, not 0'],
  [{ closeServerOnMaxConnections: { closeAbove: 5, listenBelow: 6 } }, 'closeServerOnMaxConnections of tcp() must have a closeAbove >= listenBelow, not 5 and 6'],
  [{ closeServerOnMaxConnections: { closeAbove: 6, listenBelow: 5, onListenError: true } }, 'closeServerOnMaxConnections.onListenError of tcp() must be a function, not true'],
  [{ dialOpts: true }, 'dialOpts of tcp() must be an object, not true'],
  [{ listenOpts: () => {} }, 'listenOpts of tcp() must be an object, not a function'],
  [{ dialOpts: { noDelay: 'false' } }, `dialOpts.noDelay of tcp() must be ${BOOLEAN}, not 'false' (a string)`],
  [{ dialOpts: { localAddress: 'localhost' } }, 'dialOpts.localAddress of tcp() must be an IP address, not \'localhost\' (a string)'],
  [{ dialOpts: { localPort: 70_000 } }, 'dialOpts.localPort of tcp() must be a whole number from 0 to 65535, not 70000'],
  [{ dialOpts: { family: 5 } }, 'dialOpts.family of tcp() must be 0, 4 or 6, not 5'],
  [{ dialOpts: { lookup: 'dns' } }, 'dialOpts.lookup of tcp() must be a function, not \'dns\' (a string)'],
  [{ dialOpts: { autoSelectFamilyAttemptTimeout: 0 } }, 'dialOpts.autoSelectFamilyAttemptTimeout of tcp() must be a whole number from 1 to 2147483647, not 0'],
  [{ dialOpts: { timeout: '5s' } }, `dialOpts.timeout of tcp() must be ${MS}, not '5s' (a string)`],
  [{ listenOpts: { keepAliveInitialDelay: Symbol('1') } }, `listenOpts.keepAliveInitialDelay of tcp() must be ${MS}, not a symbol`],
  [{ listenOpts: { ipv6Only: 1 } }, `listenOpts.ipv6Only of tcp() must be ${BOOLEAN}, not 1`],
  [{ reusePort: '\u001b[2J' }, `reusePort of tcp() must be ${REUSE_PORT}, not '\\u{1b}[2J' (a string)`]
]

const misspelt: Array<[init: object, message: string]> = [
  [{ maxConection: 5 }, 'maxConection. It has: inboundSocketInactivityTimeout, '],
  [{ closeServerOnMaxConnections: { closeAbov: 5, listenBelow: 5 } }, 'closeServerOnMaxConnections.closeAbov. It has: '],
  [{ toString: 5 }, 'toString. It has: inboundSocketInactivityTimeout, '],
  [{ '\n': true }, '\\u{a}. It has: inboundSocketInactivityTimeout, ']
]

const components = { logger: defaultLogger() }

function messageOf (run: () => unknown): string {
  try {
    run()
  } catch (err: any) {
    expect(err).to.be.an.instanceOf(InvalidParametersError)

    return err.message
  }

  throw new Error('nothing was thrown')
}

describe('a wrong option', () => {
  for (const [init, message] of wrong) {
    it(`of tcp() is told: ${message}`, () => {
      expect(messageOf(() => tcp(init)(components))).to.equal(`The option ${message}`)
    })
  }

  for (const [init, message] of misspelt) {
    it(`of tcp() that nobody knows is told: ${message}`, () => {
      expect(messageOf(() => tcp(init)(components))).to.include(`tcp() has no option ${message}`)
    })
  }

  for (const init of ['reusePort', 5, true, [], () => {}]) {
    it(`of tcp() is one that is no object: ${typeof init}`, () => {
      expect(messageOf(() => tcp(init as object)(components))).to.include('tcp() takes an object of options, not ')
    })
  }

  it('fails the creation of a node', async () => {
    await expect(createNode(() => {}, { tcp: { reusePort: 'yes' as any } })).to.eventually.be.rejectedWith(InvalidParametersError, /reusePort/)
  })

  it('may be one of a dial, which then fails, and of a listener', async () => {
    const transport = tcp()(components)
    const upgrader = passThrough()

    await expect(transport.dial(multiaddr('/ip4/127.0.0.1/tcp/1'), { upgrader, signal: AbortSignal.timeout(5_000), noDelay: 'no' } as any))
      .to.eventually.be.rejectedWith(InvalidParametersError, 'The option noDelay of a dial must be true or false, not \'no\' (a string)')
    expect(messageOf(() => transport.createListener({ upgrader, ipv6Only: 'no' } as any)))
      .to.equal('The option ipv6Only of a listener must be true or false, not \'no\' (a string)')
  })

  it('of optimistic() is told', () => {
    expect(messageOf(() => optimistic(noise(), { replyTimeout: '5' as any }))).to.equal('The option replyTimeout of optimistic() must be 1 or more milliseconds, not \'5\' (a string)')
    expect(messageOf(() => optimistic(noise(), { replyTimout: 5 } as any))).to.equal('optimistic() has no option replyTimout. It has: replyTimeout')
    expect(messageOf(() => optimistic(undefined as any)({} as any))).to.match(/^optimistic\(\) takes a factory/)
  })

  it('of holePunching() is told', () => {
    const node: any = { ...components, addressManager: {}, registrar: {}, connectionManager: {} }

    expect(messageOf(() => holePunching(dcutr(), { onProgress: 'log' as any }))).to.equal('The option onProgress of holePunching() must be a function, not \'log\' (a string)')
    expect(messageOf(() => holePunching(dcutr(), { onprogress: () => {} } as any))).to.equal('holePunching() has no option onprogress. It has: onProgress')
    expect(messageOf(() => holePunching(dcutr as any)(node))).to.match(/^holePunching\(\) takes a factory of a service/)
    expect(messageOf(() => holePunching(undefined as any)(node))).to.match(/^holePunching\(\) takes a factory of a service/)
  })

  const wrongForLinux: Array<[object, string]> = [
    [{ fastOpen: 'yes' }, 'The option fastOpen of linux() must be true, false or an object, not \'yes\' (a string)'],
    [{ fastOpen: { queue: '5' } }, 'The option fastOpen.queue of linux() must be a whole number from 1 to 2147483647, not \'5\' (a string)'],
    [{ fastOpen: { que: 5 } }, 'linux() has no option fastOpen.que. It has: queue'],
    [{ unsentLowWater: 0 }, 'The option unsentLowWater of linux() must be a number of bytes from 1 on, not 0'],
    [{ unsentLowWater: '1' }, 'The option unsentLowWater of linux() must be a number of bytes from 1 on, not \'1\' (a string)'],
    [{ congestion: 'bbr\0' }, 'The option congestion of linux() must be the name of a congestion control algorithm, not \'bbr\\u{0}\' (a string)'],
    [{ congestion: 'a-name-of-16-let' }, 'The option congestion of linux() must be the name of a congestion control algorithm, not \'a-name-of-16-let\' (a string)'],
    [{ userTimeout: 0 }, 'The option userTimeout of linux() must be a whole number of ms from 1 to 2147483647, not 0'],
    [{ userTimeout: Infinity }, 'The option userTimeout of linux() must be a whole number of ms from 1 to 2147483647, not Infinity'],
    [{ keepAliveInterval: 0 }, 'The option keepAliveInterval of linux() must be a number of ms from 1 to 32767000, not 0'],
    [{ keepAliveProbes: 128 }, 'The option keepAliveProbes of linux() must be a whole number from 1 to 127, not 128'],
    [{ congestionControl: 'bbr' }, 'linux() has no option congestionControl. It has: fastOpen, unsentLowWater, congestion, userTimeout, keepAliveDelay, keepAliveInterval, keepAliveProbes']
  ]

  for (const [options, message] of wrongForLinux) {
    it(`of linux() is told: ${JSON.stringify(options)}`, () => {
      expect(messageOf(() => linux(options))).to.equal(message)
    })
  }
})

describe('options that a caller changes later', () => {
  it('change nothing', async () => {
    const closeServerOnMaxConnections = { closeAbove: 5, listenBelow: 5 }
    const dialOpts = { noDelay: true }
    const transport = tcp({ closeServerOnMaxConnections, dialOpts })(components)

    closeServerOnMaxConnections.listenBelow = 10
    dialOpts.noDelay = 'no' as any
    expect(() => transport.createListener({ upgrader: passThrough() })).to.not.throw()
    await expect(transport.dial(multiaddr('/ip4/127.0.0.1/tcp/1'), { upgrader: passThrough(), signal: AbortSignal.timeout(5_000) } as any))
      .to.eventually.be.rejected.with.property('code', 'ECONNREFUSED')
  })
})
