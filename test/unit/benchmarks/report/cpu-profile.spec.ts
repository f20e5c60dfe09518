import { pathToFileURL } from 'node:url'
import { expect } from 'aegir/chai'
import { functionOf, placeOf, selfShares } from '../../../../benchmarks/report/cpu-profile.ts'
import type { CpuProfile } from '../../../../benchmarks/report/cpu-profile.ts'

const ROOT = '/home/src/benchmarks/project'

function urlOf (file: string): string {
  return pathToFileURL(`${ROOT}/${file}`).href
}

const profile: CpuProfile = {
  startTime: 1_000,
  nodes: [
    { id: 1, callFrame: { functionName: '(root)', url: '' } },
    { id: 2, callFrame: { functionName: 'send', url: urlOf('src/connection/direct-connection.ts') } },
    { id: 3, callFrame: { functionName: 'writev', url: '' } },
    { id: 4, callFrame: { functionName: '(idle)', url: '' } },
    // of another caller
    { id: 5, callFrame: { functionName: 'writev', url: '' } }
  ],
  samples: [4, 2, 3, 5, 2, 4, 3],
  // the last sample has no end
  timeDeltas: [100, 400, 100, 200, 100, 100, 400]
}

describe('benchmarks: CPU profiles', () => {
  const always = { from: 0, until: Infinity }

  it('give each name the time up to the next sample, the largest share first', () => {
    expect([...selfShares(profile, always, ({ functionName }) => functionName)]).to.deep.equal([
      ['(idle)', 800 / 1_300],
      ['writev', 300 / 1_300],
      ['send', 200 / 1_300]
    ])
  })

  it('leave out what lies before and behind a stretch', () => {
    expect([...selfShares(profile, { from: 1_500, until: 2_000 }, ({ functionName }) => functionName)]).to.deep.equal([
      ['writev', 0.6],
      ['send', 0.4]
    ])
  })

  it('sum up what is in one place', () => {
    expect([...selfShares(profile, always, frame => placeOf(frame, ROOT)).keys()]).to.deep.equal(['idle', 'kernel write', 'libp2p-fast-tcp'])
  })

  for (const [place, functionName, url] of [
    ['idle', '(idle)', ''],
    ['garbage collector', '(garbage collector)', ''],
    ['program', '(program)', ''],
    ['kernel write', 'writeBuffer', ''],
    ['kernel write', 'writeUtf8String', ''],
    ['node internals', 'now', ''],
    ['node internals', 'writev', 'node:internal/streams/writable'],
    ['libp2p-fast-tcp', 'write', urlOf('src/connection/write-path.ts')],
    ['libp2p-fast-tcp', 'write', urlOf('dist/src/connection/write-path.js')],
    ['the benchmark', 'lap', urlOf('dist/benchmarks/throughput/latency.js')],
    ['other', 'it', urlOf('test/unit/transport.spec.ts')],
    ['other', '', 'file:///home/elsewhere/src/index.js'],
    ['@libp2p/utils', 'send', urlOf('node_modules/@libp2p/utils/dist/src/abstract-message-stream.js')],
    ['@libp2p/tcp', 'send', urlOf('node_modules/@libp2p/tcp/dist/src/socket-to-conn.js')],
    ['uint8arraylist', 'consume', urlOf('node_modules/@libp2p/utils/node_modules/uint8arraylist/dist/src/index.js')],
    ['yamux', 'sendFrame', urlOf('node_modules/@chainsafe/libp2p-yamux/dist/src/muxer.js')],
    ['yamux', 'sendFrame', urlOf('node_modules/@libp2p/yamux/dist/src/muxer.js')],
    ['noise', 'encrypt', urlOf('node_modules/@libp2p/noise/dist/src/utils.js')],
    ['noise', 'seal', urlOf('node_modules/@chainsafe/as-chacha20poly1305/lib/src/chacha20poly1305.js')],
    ['noise', 'wasm-function[18]', 'wasm://wasm/20831a12']
  ]) {
    it(`know that ${functionName} of ${url === '' ? 'no file' : url.replace(urlOf(''), '')} is ${place}`, () => {
      expect(placeOf({ functionName, url }, ROOT)).to.equal(place)
    })
  }

  it('name functions and their files', () => {
    expect(functionOf({ functionName: 'writev', url: '' }, ROOT)).to.equal('writev')
    expect(functionOf({ functionName: '', url: urlOf('src/tcp.ts') }, ROOT)).to.equal('a function of src/tcp.ts')
    expect(functionOf({ functionName: 'send', url: urlOf('node_modules/@libp2p/utils/index.js') }, ROOT)).to.equal('send of @libp2p/utils/index.js')
  })
})
