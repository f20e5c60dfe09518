import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { YamuxFlows } from '../../src/flow/yamux-flows.ts'
import { YAMUX } from '../../src/libp2p.ts'
import type { StreamMuxerFactory } from '@libp2p/interface'

describe('the muxer of a connection', () => {
  it('is closed if that has ended before: its pings would keep the process alive', () => {
    const factory: StreamMuxerFactory = yamux()()
    const [outbound, inbound] = multiaddrConnectionPair()

    new YamuxFlows({ credit: true, sendWindow: true }).adopt({ getStreamMuxers: () => new Map([[YAMUX, factory]]) })
    expect(factory.createStreamMuxer(inbound).status).to.equal('open')

    outbound.abort(new Error('gone'))
    expect(factory.createStreamMuxer(outbound).status).to.equal('closed')
  })
})
