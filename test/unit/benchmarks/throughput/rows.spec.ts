import { expect } from 'aegir/chai'
import { Uint8ArrayList } from 'uint8arraylist'
import { roundNumber } from '../../../../benchmarks/throughput/calibrate.ts'
import { fieldsOf } from '../../../../benchmarks/throughput/fields.ts'
import { FirstMessageCheck, patternOf } from '../../../../benchmarks/throughput/rows/messages.ts'
import { command, onCommand } from '../../../../benchmarks/throughput/rows/one-way.ts'
import { Reassembly, toChunks } from '../../../../benchmarks/throughput/rows/reassembly.ts'
import { rowNamed, rows } from '../../../../benchmarks/throughput/rows/registry.ts'
import { sendAll } from '../../../../benchmarks/throughput/rows/send-all.ts'
import { parseOutSegs, parseSegments, segmentsBetween } from '../../../../benchmarks/throughput/segments.ts'
import { countWrites } from '../../../../benchmarks/throughput/write-calls.ts'
import { selectContenders } from '../../../lab/peers/registry.ts'
import type { Session } from '../../../../benchmarks/throughput/rows/row.ts'
import type { Bytes, Channel } from '../../../lab/peers/contender.ts'

interface FakeChannel extends Channel {
  sent: Uint8Array[]
}

function fakeChannel (accepts: (sent: number) => boolean = () => true): FakeChannel {
  const sent: Uint8Array[] = []

  return {
    sent,
    send (bytes) {
      sent.push(bytes)

      return accepts(sent.length)
    },
    onBytes: () => {},
    onDrain: () => {},
    whenClosed: () => {},
    close: async () => {}
  }
}

/**
 * Two ends without a network, which split what is sent in small parts
 */
function joinedChannels (partBytes: number): [Channel, Channel] {
  const ends = [fakeChannel(), fakeChannel()]

  ends.forEach((end, index) => {
    end.send = bytes => {
      const parts: Uint8Array[] = []

      for (let start = 0; start < bytes.byteLength; start += partBytes) {
        parts.push(bytes.slice(start, start + partBytes))
      }

      setImmediate(() => { parts.forEach((part, i) => { ends[1 - index].onBytes(i % 2 === 0 ? part : new Uint8ArrayList(part)) }) })

      return true
    }
  })

  return [ends[0], ends[1]]
}

describe('benchmarks: throughput', () => {
  it('says that what was chosen cannot be measured', () => {
    const connections = selectContenders('throughput', { levels: ['connection'] })

    expect(() => fieldsOf([rowNamed('side-by-side')], connections)).to.throw('side-by-side (stream level)')
  })

  it('measures contenders that want to be named only where they are', () => {
    expect(selectContenders('throughput').map(({ name }) => name)).to.not.include('hasty')
    expect(selectContenders('throughput', { rivals: ['hasty'] }).map(({ name }) => name)).to.deep.equal(['hasty'])
  })

  describe('rows', () => {
    // the extra ones want more than one channel
    for (const row of rows.filter(row => row.keepsConnection && row.extra !== true)) {
      it(`${row.name}: the two halves understand each other`, async () => {
        const [dialer, listener] = joinedChannels(40_001)
        const session: Session = {
          peer: undefined as any,
          address: '',
          connection: { open: async () => dialer, close: async () => {} },
          channel: dialer
        }
        let operations = 0
        const onOperation = (): void => { operations++ }

        row.serve(listener)

        await row.run(session, 3, onOperation)
        await row.run(session, 1, onOperation)

        expect(operations).to.equal(4)
      })
    }

    it('notice wrong bytes', () => {
      const check = new FirstMessageCheck(patternOf(1_000))
      const wrong = patternOf(1_000)
      wrong[700]++

      check.see(wrong.subarray(0, 600))
      expect(() => { check.see(new Uint8ArrayList(wrong.subarray(600))) }).to.throw('offset 600')
    })

    it('put chunks together wherever they are split', () => {
      const message = patternOf(1_000)
      const bytes = new Uint8ArrayList(...toChunks(message, 300), ...toChunks(message, 999)).subarray()

      for (const partBytes of [1, 7, 8, 9, 308, 2_000]) {
        const whole: Uint8Array[] = []
        const reassembly = new Reassembly(message => whole.push(message))

        for (let start = 0; start < bytes.byteLength; start += partBytes) {
          reassembly.receive(bytes.subarray(start, start + partBytes))
        }

        expect(whole).to.deep.equal([message, message])
      }
    })

    it('read a command that is split and what lies behind it', () => {
      const channel = fakeChannel()
      const seen: Array<[number, number]> = []
      const bytes = new Uint8ArrayList(command(70_000), patternOf(3))

      onCommand(channel, (count: number, rest: Bytes) => seen.push([count, rest.byteLength]))
      channel.onBytes(bytes.subarray(0, 2))
      channel.onBytes(bytes.sublist(2))

      expect(seen).to.deep.equal([[70_000, 3]])
    })
  })

  describe('backpressure', () => {
    it('waits for the drain', () => {
      const channel = fakeChannel(sent => sent % 2 === 1)
      sendAll(channel, 5, index => Uint8Array.of(index))
      expect(channel.sent).to.have.length(2)

      channel.onDrain()
      channel.onDrain()
      channel.onDrain()
      expect(channel.sent.map(([index]) => index)).to.deep.equal([0, 1, 2, 3, 4])
    })

    it('goes on when the channel drains while it is sent to', () => {
      const channel = fakeChannel(() => {
        channel.onDrain()

        return false
      })
      sendAll(channel, 3, index => Uint8Array.of(index))

      expect(channel.sent).to.have.length(3)
    })
  })

  it('does a round number of operations', () => {
    expect([0.3, 1, 3, 4, 17, 180, 34_000].map(roundNumber)).to.deep.equal([1, 1, 2, 5, 20, 200, 50_000])
  })

  describe('counts', () => {
    const listing = (first: number, second: number): string => [
      `ESTAB 0      0          127.0.0.1:50000      127.0.0.1:1234 cubic wscale:7,7 bytes_sent:4 segs_out:7 segs_in:5 data_segs_out:${first} data_segs_in:1`,
      `ESTAB 0      0          127.0.0.1:1234      127.0.0.1:50000 cubic wscale:7,7 bytes_sent:4 segs_out:7 segs_in:5 data_segs_out:${second} data_segs_in:1`,
      'TIME-WAIT 0  0          127.0.0.1:1234      127.0.0.1:50001',
      ''
    ].join('\n')

    it('segments of both ends', () => {
      expect(segmentsBetween(parseSegments(listing(3, 5)), parseSegments(listing(10, 6)))).to.equal(8)
    })

    it('segments of a socket that has sent nothing yet', () => {
      const silent = listing(1, 1).replaceAll('data_segs_out:1', '')

      expect(segmentsBetween(parseSegments(silent), parseSegments(listing(2, 3)))).to.equal(5)
    })

    it('segments of the machine', () => {
      expect(parseOutSegs('Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm OutSegs InErrs\nTcp: 1 4711 0\n')).to.equal(4_711)
      expect(parseOutSegs('')).to.be.undefined()
    })

    it('writes to TCP sockets alone, once each', async () => {
      expect(await countWrites([
        '101 write(21<TCP:[127.0.0.1:1->127.0.0.1:2]>, "x", 1) = 1',
        '101 writev(21<TCP:[127.0.0.1:1->127.0.0.1:2]>, [{iov_base="x", iov_len=1}], 2 <unfinished ...>',
        '102 write(9<anon_inode:[eventfd]>, "\\1\\0\\0\\0\\0\\0\\0\\0", 8) = 8',
        '101 <... writev resumed>) = 2',
        '101 sendmsg(3<UNIX-STREAM:[1->2]>, {msg_name=NULL}, 0) = 3',
        '101 sendmsg(22<TCPv6:[[::1]:1->[::1]:2]>, {msg_name=NULL}, 0) = 3'
      ])).to.equal(3)
    })
  })
})
