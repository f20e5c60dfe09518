import { expect } from 'aegir/chai'
import { parsePacket } from '../../../benchmarks/nagle/packet.ts'
import { toSegments } from '../../../benchmarks/nagle/segments.ts'
import type { Packet } from '../../../benchmarks/nagle/packet.ts'

const DATA = '1795229391.123456 fasttcp12b Out IP 10.203.0.2.40512 > 10.203.0.1.33333: Flags [P.], seq 100:109, ack 900, win 502, options [nop,nop,TS val 1 ecr 2], length 9'
const ACK = '1795229391.623456 fasttcp12b In  IP 10.203.0.1.33333 > 10.203.0.2.40512: Flags [.], ack 109, win 509, options [nop,nop,TS val 3 ecr 4], length 0'
const SYN = '1795229390.000001 fasttcp12b Out IP6 fd00::2.40512 > fd00::1.33333: Flags [S], seq 99, win 64240, options [mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7], length 0'

function data (time: number, from: number, length: number): Packet {
  return { time, fromPort: 1, toPort: 2, flags: 'P.', from, to: from + length, ack: 500, length }
}

function ack (time: number, ack: number): Packet {
  return { time, fromPort: 2, toPort: 1, flags: '.', ack, length: 0 }
}

describe('benchmarks: packets', () => {
  it('reads a data segment', () => {
    const packet = parsePacket(DATA)

    expect(packet).to.deep.include({ fromPort: 40512, toPort: 33333, flags: 'P.', from: 100, to: 109, ack: 900, length: 9 })
    expect(packet?.time).to.be.closeTo(1795229391123.456, 0.001)
  })

  it('reads an ACK without bytes', () => {
    expect(parsePacket(ACK)).to.deep.include({ fromPort: 33333, flags: '.', from: undefined, to: undefined, ack: 109, length: 0 })
  })

  it('reads a SYN over IPv6', () => {
    expect(parsePacket(SYN)).to.deep.include({ toPort: 33333, flags: 'S', from: 99, to: undefined, ack: undefined, length: 0 })
  })

  it('passes over other lines', () => {
    expect(parsePacket('')).to.be.undefined()
    expect(parsePacket('listening on any, link-type LINUX_SLL2')).to.be.undefined()
    expect(parsePacket('1.2 lo In ARP, Request who-has 10.0.0.1 tell 10.0.0.2, length 28')).to.be.undefined()
  })
})

describe('benchmarks: segments', () => {
  it('finds when each segment left and came', () => {
    expect(toSegments({
      sender: [data(1_000, 100, 1), ack(1_080, 101)],
      receiver: [data(1_040, 100, 1), ack(1_040.5, 101)]
    }, 1, 1_000)).to.deep.equal([
      { from: 'sender', sent: 0, received: 40, bytes: 1 },
      { from: 'receiver', sent: 40.5, received: 80, bytes: 0 }
    ])
  })

  it('tells retransmissions and losses', () => {
    const segments = toSegments({
      sender: [data(0, 100, 1), data(5, 101, 1), data(300, 101, 1)],
      receiver: [data(40, 100, 1), data(340, 101, 1)]
    }, 1, 0)

    expect(segments.map(({ retransmission }) => retransmission)).to.deep.equal([undefined, undefined, true])
    // which of two alike was lost cannot be told
    expect(segments.map(({ received }) => received)).to.deep.equal([40, 340, undefined])
  })

  it('leaves out handshakes, FINs and other connections', () => {
    const other = { ...data(0, 100, 5), fromPort: 7 }
    const syn: Packet = { time: 0, fromPort: 1, toPort: 2, flags: 'S', from: 99, length: 0 }
    const fin: Packet = { time: 9, fromPort: 2, toPort: 1, flags: 'F.', from: 7, ack: 8, length: 0 }

    expect(toSegments({ sender: [other, syn], receiver: [fin] }, 1, 0)).to.be.empty()
  })
})
