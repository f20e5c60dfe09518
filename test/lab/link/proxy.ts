import { once } from 'node:events'
import net from 'node:net'
import { DelayLine } from './delay-line.ts'
import type { Address } from './link.ts'

/** What is done to what passes in one direction. Faults may be combined */
export interface Fault {
  /** All of it is held back for so many ms ... */
  delay?: number

  /** ... and up to so many more, at random and in order */
  jitter?: number

  /** What passes, in bytes a ms; the rest has to wait where it comes from */
  rate?: number

  /** In pieces of half as many to one and a half times as many bytes */
  slice?: number

  /** FIN waits for so many ms longer */
  slowClose?: number

  /** Both connections are closed when so many bytes have passed */
  limit?: number

  /** Nothing passes any more. Both connections are closed after so many ms; 0 is never */
  silence?: number

  /** The receiver gets RST after so many ms */
  reset?: number
}

export interface Faults {
  /** To the target */
  up?: Fault

  /** From there */
  down?: Fault
}

export interface ProxyInit extends Faults {
  target: Address

  /** A source of numbers from 0 to 1, for faults that can be repeated */
  random?(): number
}

export interface Proxy extends Address {
  /** From now on, on connections that are open too */
  inject(faults: Faults): void

  /** Destroys every connection and stops listening. May be called twice */
  close(): Promise<void>
}

/** Bytes that are under way before reading from the sender stops */
const WINDOW = 16 * 1024 * 1024
const SLOW_WINDOW = 64 * 1024

/**
 * A TCP proxy that passes bytes, FIN and RST on, each after the faults of its direction.
 *
 * It ends TCP, so the kernel completes the dialer's SYN at once: a dial over it looks one round trip cheaper than over a real link. What
 * follows is as over a real link: the target sees the connection one delay after the dialer did, as it would see the ACK that ends the
 * three-way handshake. Nagle's algorithm and loss recovery happen between kernels, which the proxy keeps apart.
 */
export async function openProxy ({ target, up = {}, down = {}, random = Math.random }: ProxyInit): Promise<Proxy> {
  const pairs = new Set<{ there: Direction, back: Direction }>()
  const faults = { up, down }
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, near => {
    const far = new net.Socket({ allowHalfOpen: true })
    const pair = { there: new Direction(near, far, faults.up, random), back: new Direction(far, near, faults.down, random) }

    far.setNoDelay(true)
    pairs.add(pair)
    near.once('close', () => { far.once('close', () => pairs.delete(pair)) })
    pair.there.later(() => { far.connect(target) })
  })
  let closed: Promise<void> | undefined

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    host: '127.0.0.1',
    port: (server.address() as net.AddressInfo).port,
    inject ({ up = faults.up, down = faults.down }) {
      Object.assign(faults, { up, down })
      pairs.forEach(({ there, back }) => {
        there.inject(up)
        back.inject(down)
      })
    },
    async close () {
      closed ??= new Promise<void>(resolve => {
        server.close(() => { resolve() })
        pairs.forEach(({ there, back }) => { [there, back].forEach(({ from }) => { from.destroy() }) })
      })

      return closed
    }
  }
}

/** Passes everything that can be seen of a socket on to another one, in order */
class Direction {
  readonly from: net.Socket
  readonly #to: net.Socket
  readonly #random: () => number
  readonly #line: DelayLine<() => void>
  #fault: Fault = {}
  #timer?: NodeJS.Timeout
  #isCut = false
  #inFlight = 0
  #passed = 0

  /** When all that has come will have passed, where there is a rate */
  #idleFrom = 0

  constructor (from: net.Socket, to: net.Socket, fault: Fault, random: () => number) {
    this.from = from
    this.#to = to
    this.#random = random
    this.#line = new DelayLine({ delay: fault.delay ?? 0, jitter: fault.jitter, random, blocked: () => to.writableNeedDrain, deliver: act => { act() } })

    // an RST is passed on by the direction that reads it
    from.on('error', () => {})
    from.on('data', chunk => { this.#take(chunk) })
    from.once('end', () => { this.later(() => to.end(), this.#fault.slowClose) })
    from.once('close', hadError => {
      if (hadError) {
        this.later(() => to.resetAndDestroy())
      }
    })
    to.on('drain', () => { this.#line.wake() })
    to.once('close', () => {
      // nothing can be delivered any more
      clearTimeout(this.#timer)
      this.#line.clear()
      from.resume()
    })
    this.inject(fault)
  }

  inject (fault: Fault): void {
    const { silence = 0, reset, limit } = fault

    this.#fault = fault
    clearTimeout(this.#timer)

    if (reset != null) {
      this.#timer = setTimeout(() => { this.#end(() => this.#to.resetAndDestroy()) }, reset)
    } else if (silence > 0) {
      this.#timer = setTimeout(() => { this.#cut() }, silence)
    } else if (limit === 0) {
      this.later(() => { this.#cut() })
    }
  }

  /** Acts behind all that has come so far, and later still by so many ms */
  later (act: () => void, ms = 0): void {
    if (!this.#to.destroyed) {
      this.#line.push(act, Math.max(performance.now(), this.#idleFrom) + ms)
    }
  }

  #take (chunk: Buffer): void {
    const { silence, limit = Infinity } = this.#fault
    const left = limit - this.#passed

    if (silence != null || this.#isCut) {
      return
    }

    for (const piece of this.#pieces(chunk.subarray(0, Math.max(0, left)))) {
      this.#pass(piece)
    }

    if (chunk.byteLength >= left) {
      this.#isCut = true
      this.later(() => { this.#cut() })
    }
  }

  * #pieces (chunk: Buffer): Generator<Buffer> {
    const { slice = Infinity } = this.#fault

    for (let offset = 0; offset < chunk.byteLength;) {
      const length = slice === Infinity ? chunk.byteLength : Math.ceil(slice * (0.5 + this.#random()))

      yield chunk.subarray(offset, offset += length)
    }
  }

  #pass (piece: Buffer): void {
    this.#passed += piece.byteLength
    this.#idleFrom = Math.max(performance.now(), this.#idleFrom) + piece.byteLength / (this.#fault.rate ?? Infinity)
    this.later(() => {
      this.#to.write(piece)
      this.#count(-piece.byteLength)
    })
    this.#count(this.#to.destroyed ? 0 : piece.byteLength)
  }

  #count (bytes: number): void {
    this.#inFlight += bytes

    if (this.#inFlight > (this.#fault.rate == null ? WINDOW : SLOW_WINDOW)) {
      this.from.pause()
    } else {
      this.from.resume()
    }
  }

  #cut (): void {
    this.#end(() => { this.#to.destroySoon() })
  }

  #end (act: () => void): void {
    act()
    this.from.destroy()
  }
}
