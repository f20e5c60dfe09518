import type { Packet } from './packet.ts'

export type Side = 'sender' | 'receiver'

/** A TCP segment and when it left and came. Times are in milliseconds. */
export interface Segment {
  from: Side
  sent: number

  /** Undefined where it was lost. */
  received?: number

  /** Bytes of payload, 0 for a pure ACK. */
  bytes: number

  /** Given where these bytes were sent before. */
  retransmission?: true
}

export interface Captured {
  sender: Packet[]
  receiver: Packet[]
}

/**
 * The data segments of one connection and their ACKs, from captures at both
 * ends, in the order in which they were sent. `start` is the ms since 1970 that are to be zero.
 */
export function toSegments ({ sender, receiver }: Captured, port: number, start: number): Segment[] {
  const seen = new Set<number>()

  return [
    ...paired(outward(sender, port), outward(receiver, port), 'sender'),
    ...paired(inward(receiver, port), inward(sender, port), 'receiver')
  ]
    .map(({ packet, from, received }) => {
      const first = packet.length > 0 ? packet.from : undefined
      const retransmission = first != null && seen.has(first)

      if (first != null) {
        seen.add(first)
      }

      return {
        from,
        sent: microseconds(packet.time - start),
        received: received == null ? undefined : microseconds(received.time - start),
        bytes: packet.length,
        ...retransmission ? { retransmission } : {}
      }
    })
    .toSorted((a, b) => a.sent - b.sent)
}

/** No clock here tells less apart. */
export function microseconds (milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
}

/** Data: SYN, FIN and the ACK that ends the handshake are nobody's message. */
function outward (packets: Packet[], port: number): Packet[] {
  return packets.filter(({ fromPort, length }) => fromPort === port && length > 0)
}

function inward (packets: Packet[], port: number): Packet[] {
  return packets.filter(({ toPort, flags, length }) => toPort === port && flags === '.' && length === 0)
}

interface Pair {
  packet: Packet
  from: Side
  received?: Packet
}

/**
 * The n-th segment of its kind to leave is the n-th of its kind to come: the
 * link keeps order.
 */
function paired (left: Packet[], came: Packet[], from: Side): Pair[] {
  const waiting = Map.groupBy(came, kind)

  return left.map(packet => ({ packet, from, received: waiting.get(kind(packet))?.shift() }))
}

function kind ({ flags, from, to, ack, length }: Packet): string {
  return [flags, from, to, ack, length].join()
}
