import { expect } from 'aegir/chai'
import { addressOf, atAddress, multiaddrOf, withoutPeer } from '../../../lab/peers/address.ts'

describe('benchmarks: address', () => {
  it('writes hosts of every kind', () => {
    expect(multiaddrOf({ host: '127.0.0.1', port: 80 })).to.equal('/ip4/127.0.0.1/tcp/80')
    expect(multiaddrOf({ host: '::1', port: 80 })).to.equal('/ip6/::1/tcp/80')
    expect(multiaddrOf({ host: 'example.com', port: 80 }, 'Qm')).to.equal('/dns/example.com/tcp/80/p2p/Qm')
  })

  it('reads what it writes', () => {
    expect(addressOf('/ip6/::1/tcp/80/p2p/Qm')).to.deep.equal({ host: '::1', port: 80 })
  })

  it('refuses what is not TCP', () => {
    expect(() => addressOf('/ip4/127.0.0.1/udp/80')).to.throw('Not the multiaddr of a TCP port')
  })

  it('leaves the peer out', () => {
    expect(withoutPeer('/ip6/::1/tcp/80/p2p/Qm')).to.equal('/ip6/::1/tcp/80')
  })

  it('moves a peer to another address', () => {
    expect(atAddress('/ip4/127.0.0.1/tcp/80/p2p/Qm', { host: '10.0.0.1', port: 90 })).to.equal('/ip4/10.0.0.1/tcp/90/p2p/Qm')
  })
})
