import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { FOREIGN, UTILS_VERSIONS } from '../../src/foreign/list.ts'
import { isThorough } from '../fixtures/thorough.ts'
import type { StreamsResult } from './fixtures/streams.ts'
import type { ForeignName } from '../../src/foreign/list.ts'

const fixture = (name: string): string => path.join(import.meta.dirname, 'fixtures', name)

/** Programs and other packages use these, so that a version that the package admits has them by the same name */
const PUBLIC = ['abort', 'addEventListener', 'close', 'createStreamMuxer', 'dispatchEvent', 'listenerCount', 'safeDispatchEvent', 'send', 'status', 'streams', 'timeline']

const ALL = { echo: 50, 'half-close': 50, FIN: 50, reset: 50, large: 1 }

function membersOf (...names: ForeignName[]): string[] {
  const members = names.flatMap(name => [...Object.keys(FOREIGN[name].uses), ...FOREIGN[name].replaces])

  return [...new Set(members)].filter(member => !PUBLIC.includes(member)).sort()
}

const BASE = membersOf('base')
const OTHERS = membersOf(...Object.keys(FOREIGN) as ForeignName[]).filter(member => !BASE.includes(member))

/** Each takes a process or two: one is enough, but with `THOROUGH=true` */
function some<T> (all: T[]): T[] {
  return isThorough ? all : all.slice(0, 1)
}

async function run (stack: 'official' | 'plain' | 'decorated', env: Record<string, string>): Promise<StreamsResult> {
  const { stdout } = await execa(process.execPath, ['--import', fixture('changed-libp2p.ts'), fixture('streams.ts'), stack], {
    env: { ...env, NODE_NO_WARNINGS: '1', NODE_OPTIONS: '' }
  })

  return JSON.parse(stdout)
}

describe('a version of libp2p in which a member has another name', function () {
  this.timeout(180_000)

  for (const stack of isThorough ? ['official', 'plain', 'decorated'] as const : ['decorated'] as const) {
    it(`serves all streams of ${stack} if nothing has another name`, async () => {
      expect(await run(stack, {})).to.deep.equal({ counts: ALL, warnings: [] })
    })
  }

  for (const RENAMED of some(BASE)) {
    it(`cannot be used if the base class of connections has no ${RENAMED}: a typed error says so when the transport is created`, async () => {
      const plain = await run('plain', { RENAMED })

      expect(plain.error).to.have.property('name', 'IncompatibleUtilsError')
      expect(plain.error?.message).to.match(new RegExp(`\\b${RENAMED}\\b`)).and.to.include(UTILS_VERSIONS)
      expect(plain.counts).to.deep.equal({})
    })
  }

  for (const RENAMED of some(OTHERS)) {
    it(`serves all streams as official does if there is no ${RENAMED}, and one warning names it`, async () => {
      const [plain, decorated] = await Promise.all([run('plain', { RENAMED }), run('decorated', { RENAMED })])

      expect(plain.counts).to.deep.equal(ALL)
      expect(plain.warnings).to.have.lengthOf.at.most(1)
      expect(decorated.counts).to.deep.equal(ALL)
      expect(decorated.warnings).to.have.lengthOf(1)
      expect(decorated.warnings[0]).to.match(new RegExp(`\\b${RENAMED}\\b`))
    })
  }
})

describe('a version of libp2p in which two objects are no longer the same', function () {
  this.timeout(120_000)

  for (const [identity, REPLACED] of some(Object.entries({
    'dial(multiaddr) === dialFilter([multiaddr])': [['/libp2p/dist/src/transport-manager.js', 'return transport.dial(ma, {', 'return transport.dial(ma.decapsulateCode(-1), {']],
    'connection.streams === muxer.streams': [['/libp2p/dist/src/connection.js', 'return this.muxer?.streams ?? []', 'return [...this.muxer?.streams ?? []]']],
    'connection.timeline === maConn.timeline': [['/libp2p/dist/src/connection.js', 'this.timeline = init.maConn.timeline', 'this.timeline = { ...init.maConn.timeline }']]
  }))) {
    it(`serves all streams as official does if ${identity} does not hold, and one warning says so`, async () => {
      const decorated = await run('decorated', { REPLACED: JSON.stringify(REPLACED) })

      expect(decorated.counts).to.deep.equal(ALL)
      expect(decorated.warnings).to.have.lengthOf(1)
      expect(decorated.warnings[0]).to.include(identity)
    })
  }
})

describe('the check of the base class', () => {
  it('names the versions that package.json admits', () => {
    const { dependencies } = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8'))

    expect(dependencies['@libp2p/utils']).to.equal(UTILS_VERSIONS)
  })
})
