import { MiB, chunks, payload } from '../../fixtures/bytes.ts'
import { endingOf } from '../endings.ts'
import type { Ending } from '../endings.ts'
import type { MessageStream } from '@libp2p/interface'

/** Longer than what any fault lets through */
const LENGTH = 2 * MiB

/** What each end sends: no two places in it look alike */
const DATA = Buffer.from(payload(LENGTH).buffer)

/** One end of a stream on which both send at the same time, and which neither ever closes */
export interface Exchange extends Ending {
  received: number

  /** Where something arrived that was not sent there */
  wrongAt?: number
}

export function exchangeOn (stream: MessageStream): Exchange {
  const exchange: Exchange = Object.assign(endingOf(stream), { received: 0 })

  stream.addEventListener('message', ({ data }) => {
    const bytes = data.subarray()
    const end = exchange.received + bytes.byteLength

    if (end > LENGTH || DATA.compare(bytes, 0, bytes.byteLength, exchange.received, end) !== 0) {
      exchange.wrongAt ??= exchange.received
    }

    exchange.received = end
  })

  void send(stream)

  return exchange
}

async function send (stream: MessageStream): Promise<void> {
  try {
    for (const chunk of chunks(DATA)) {
      if (!stream.send(chunk)) {
        await stream.onDrain()
      }
    }
  } catch {
    // cut, which its 'close' tells
  }
}
