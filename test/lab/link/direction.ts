import { seededRandom } from '../process/random.ts'
import { Bottleneck } from './bottleneck.ts'
import { DelayLine } from './delay-line.ts'
import { Histogram } from './histogram.ts'
import type { LinkShape, Loss, Traffic } from './link.ts'

const PERCENTILES = [50, 95, 100]

interface Packet {
  bytes: Buffer
  due: number
}

/** One direction of a link: it loses, queues, drops and delays packets, and counts what it did. */
export class Direction {
  readonly #delay: number
  readonly #bottleneck?: Bottleneck
  readonly #line: DelayLine<Packet>
  readonly #queued = new Histogram()
  readonly #late = new Histogram()
  readonly #counts = { packets: 0, bytes: 0, dropped: 0, lost: 0 }

  #loses: () => boolean = () => false

  constructor ({ delay, bottleneck, loss }: LinkShape, deliver: (packet: Buffer) => void) {
    this.#delay = delay
    this.#bottleneck = bottleneck == null ? undefined : new Bottleneck(bottleneck)
    this.#line = new DelayLine({
      delay,
      deliver: ({ bytes, due }) => {
        this.#late.add(performance.now() - due)
        deliver(bytes)
      }
    })

    if (loss != null) {
      this.lose(loss)
    }
  }

  push (packet: Buffer): void {
    const now = performance.now()

    if (this.#loses()) {
      this.#counts.lost++
      return
    }

    const departure = this.#bottleneck == null ? now : this.#bottleneck.departure(packet.byteLength, now)

    if (departure == null) {
      this.#counts.dropped++
      return
    }

    this.#counts.packets++
    this.#counts.bytes += packet.byteLength
    this.#queued.add(departure - now)
    this.#line.push({ bytes: packet, due: departure + this.#delay }, departure)
  }

  /** From now on, also packets that are on their way at the sender's end */
  lose ({ percent, seed }: Loss): void {
    const random = seededRandom(seed)

    this.#loses = () => random() * 100 < percent
  }

  traffic (): Traffic {
    return {
      ...this.#counts,
      queued: PERCENTILES.map(percent => this.#queued.percentile(percent)),
      late: PERCENTILES.map(percent => this.#late.percentile(percent))
    }
  }

  clear (): void {
    this.#line.clear()
  }
}
