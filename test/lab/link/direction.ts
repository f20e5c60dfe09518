import { createHistogram } from 'node:perf_hooks'
import { seededRandom } from '../process/random.ts'
import { Bottleneck } from './bottleneck.ts'
import { DelayLine } from './delay-line.ts'
import type { LinkShape, Loss, Traffic } from './link.ts'
import type { RecordableHistogram } from 'node:perf_hooks'

interface Packet {
  bytes: Buffer
  due: number
}

/** One direction of a link: it loses, queues, drops and delays packets, and counts what it did. */
export class Direction {
  readonly #delay: number
  readonly #bottleneck?: Bottleneck
  readonly #line: DelayLine<Packet>
  readonly #queued = createHistogram()
  readonly #late = createHistogram()
  readonly #counts = { packets: 0, bytes: 0, dropped: 0, lost: 0 }

  #loses: () => boolean = () => false

  constructor ({ delay, bottleneck, loss }: LinkShape, deliver: (packet: Buffer) => void) {
    this.#delay = delay
    this.#bottleneck = bottleneck == null ? undefined : new Bottleneck(bottleneck)
    this.#line = new DelayLine({
      delay,
      deliver: ({ bytes, due }) => {
        this.#late.record(inWholeMs(performance.now() - due))
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
    this.#queued.record(inWholeMs(departure - now))
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
      queued: percentiles(this.#queued),
      late: percentiles(this.#late)
    }
  }

  clear (): void {
    this.#line.clear()
  }
}

function percentiles (histogram: RecordableHistogram): number[] {
  return [50, 95, 100].map(percent => Math.max(0, histogram.percentile(percent) - 1))
}

/** One more: a histogram takes no 0 */
function inWholeMs (ms: number): number {
  return 1 + Math.max(0, Math.round(ms))
}
