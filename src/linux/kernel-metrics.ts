import { Descriptors, endsOf } from './descriptors.ts'
import { IPPROTO_TCP, TCP_INFO } from './libc.ts'
import { TCP_INFO_BYTES, readTcpInfo } from './tcp-info.ts'
import type { Ends } from './descriptors.ts'
import type { Libc } from './libc.ts'
import type { Counts, TcpInfo } from './tcp-info.ts'
import type { MeasuredSockets } from '../plugin.ts'
import type { CounterGroup, Histogram, Metrics } from '@libp2p/interface'
import type { Socket } from 'node:net'

/** How many sockets are read in one scrape. With more of them each is read in its turn */
export const MAX_READ = 1_000

const NOTHING: Counts = { sent: 0, retransmitted: 0, received: 0 }

/** A descriptor that was searched for */
interface Found {
  fd: number
  peer: Uint8Array
}

/** In s: 0.1 ms to 13 s */
const ROUND_TRIP_BUCKETS = Array.from({ length: 18 }, (_, i) => 0.0001 * 2 ** i)

/** In bytes: 1 KiB to 16 MiB */
const BYTES_BUCKETS = Array.from({ length: 15 }, (_, i) => 1_024 * 2 ** i)

/** In s: a second to 12 days */
const AGE_BUCKETS = Array.from({ length: 11 }, (_, i) => 4 ** i)

/**
 * What the kernel knows of the connections of a transport, read when metrics are scraped.
 *
 * A gauge whose value is calculated is the only thing that all implementations of libp2p's metrics ask at a scrape
 * and treat alike. So it does the reading. It has to be registered first: what it counts then belongs to the same scrape.
 */
export class KernelMetrics {
  readonly #libc: Libc
  readonly #descriptors: Descriptors
  readonly #sockets: MeasuredSockets

  /** The descriptors that we have opened ourselves */
  readonly #own: WeakMap<Socket, number>
  readonly #found = new WeakMap<Socket, Found>()

  /** What was counted of each socket already */
  readonly #counted = new WeakMap<Socket, TcpInfo>()
  readonly #buffer = new Uint8Array(TCP_INFO_BYTES)

  readonly #bytes: CounterGroup
  readonly #segments: CounterGroup
  readonly #roundTrip: Histogram
  readonly #unsent: Histogram
  readonly #window: Histogram
  readonly #age: Histogram

  /** Whose turn is next, if there are too many for one scrape */
  #next?: Iterator<[Socket, number]>

  constructor (libc: Libc, own: WeakMap<Socket, number>, sockets: MeasuredSockets, metrics: Metrics) {
    this.#libc = libc
    this.#descriptors = new Descriptors(libc)
    this.#sockets = sockets
    this.#own = own

    metrics.registerMetricGroup('libp2p_tcp_sockets', {
      label: 'state',
      help: 'TCP sockets that are open, and those of them that the kernel was asked about in this scrape',
      calculate: () => ({ open: sockets.size, read: this.#scrape() })
    })
    this.#bytes = metrics.registerCounterGroup('libp2p_tcp_bytes_total', {
      label: 'kind',
      help: 'Total count of bytes that the kernel sent, sent again and received on TCP connections'
    })
    this.#segments = metrics.registerCounterGroup('libp2p_tcp_segments_total', {
      label: 'kind',
      help: 'Total count of segments that the kernel sent, sent again and received on TCP connections'
    })
    this.#roundTrip = metrics.registerHistogram('libp2p_tcp_round_trip_seconds', {
      help: 'Smoothed round trip time of each TCP connection at each scrape',
      buckets: ROUND_TRIP_BUCKETS
    })
    this.#unsent = metrics.registerHistogram('libp2p_tcp_unsent_bytes', {
      help: 'What the kernel had taken and not sent yet of each TCP connection at each scrape',
      buckets: [0, ...BYTES_BUCKETS]
    })
    this.#window = metrics.registerHistogram('libp2p_tcp_congestion_window_bytes', {
      help: 'Congestion window of each TCP connection at each scrape',
      buckets: BYTES_BUCKETS
    })
    this.#age = metrics.registerHistogram('libp2p_tcp_connection_age_seconds', {
      help: 'Age of each TCP connection at each scrape',
      buckets: AGE_BUCKETS
    })
  }

  /** @returns how many sockets were read */
  #scrape (): number {
    const turn = this.#turn()
    const now = performance.now()
    let bytes = NOTHING
    let segments = NOTHING
    let read = 0

    this.#search(turn)

    for (const [socket, since] of turn) {
      const info = this.#read(socket)

      if (info == null) {
        continue
      }

      const counted = this.#counted.get(socket)

      bytes = sum(bytes, difference(info.bytes, counted?.bytes))
      segments = sum(segments, difference(info.segments, counted?.segments))
      this.#counted.set(socket, info)
      this.#observe(info, (now - since) / 1_000)
      read++
    }

    this.#bytes.increment({ ...bytes })
    this.#segments.increment({ ...segments })

    return read
  }

  #turn (): Array<[Socket, number]> {
    if (this.#sockets.size <= MAX_READ) {
      return [...this.#sockets]
    }

    const turn: Array<[Socket, number]> = []

    while (turn.length < MAX_READ) {
      this.#next ??= this.#sockets[Symbol.iterator]()
      const { done, value } = this.#next.next()

      if (done === true) {
        this.#next = undefined
      } else {
        turn.push(value)
      }
    }

    return turn
  }

  /** Finds the descriptors of the sockets that have none yet */
  #search (turn: Array<[Socket, number]>): void {
    const unknown = new Map<Socket, Ends>()

    for (const [socket] of turn) {
      const ends = socket.destroyed || this.#own.has(socket) || this.#found.has(socket) ? undefined : endsOf(socket)

      // a Unix socket has none
      if (ends != null) {
        unknown.set(socket, ends)
      }
    }

    if (unknown.size === 0) {
      return
    }

    const known = new Set<number>()

    for (const [socket] of this.#sockets) {
      const fd = this.#descriptor(socket)

      if (fd != null) {
        known.add(fd)
      }
    }

    const connections = this.#descriptors.search(known)

    for (const [socket, ends] of unknown) {
      const fd = connections.get(ends)

      if (fd != null) {
        this.#found.set(socket, { fd, peer: this.#descriptors.peer(fd) })
      }
    }
  }

  #descriptor (socket: Socket): number | undefined {
    return socket.destroyed ? undefined : this.#own.get(socket) ?? this.#found.get(socket)?.fd
  }

  #read (socket: Socket): TcpInfo | undefined {
    const fd = this.#descriptor(socket)
    const found = this.#found.get(socket)

    if (fd == null || (found != null && !this.#descriptors.isOf(fd, found.peer))) {
      return
    }

    return this.#libc.getOption(fd, IPPROTO_TCP, TCP_INFO, this.#buffer) < TCP_INFO_BYTES ? undefined : readTcpInfo(this.#buffer)
  }

  #observe ({ roundTrip, unsentBytes, congestionWindow }: TcpInfo, age: number): void {
    if (roundTrip > 0) {
      this.#roundTrip.observe(roundTrip)
    }

    this.#unsent.observe(unsentBytes)
    this.#window.observe(congestionWindow)
    this.#age.observe(age)
  }
}

function sum (a: Counts, b: Counts): Counts {
  return { sent: a.sent + b.sent, retransmitted: a.retransmitted + b.retransmitted, received: a.received + b.received }
}

function difference (now: Counts, before = NOTHING): Counts {
  return { sent: now.sent - before.sent, retransmitted: now.retransmitted - before.retransmitted, received: now.received - before.received }
}
