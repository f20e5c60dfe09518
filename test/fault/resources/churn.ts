import { MiB } from '../../fixtures/bytes.ts'
import { handles, nothingLeft } from '../abort/promptly.ts'
import { echoTransport } from './echo-transport.ts'
import { heapAfterGC } from './heap.ts'
import type { Scenario } from '../scenario.ts'

/** In one run */
const DIALS = 500

/** At a time */
const CONCURRENT = 10

/** So many runs fill the caches */
const WARM_UP = 2

/** What the heap may have grown by since then */
const MAX_GROWTH = MiB

export const churn: Scenario = {
  name: `${DIALS} times dial, echo and close a run, one in ten aborted`,
  runs: 10,
  timeout: 60_000,
  async prepare ({ defer, random }) {
    const { addrs, dialAndEcho, abortAtRandom } = await echoTransport(defer)
    const before = handles()
    let heapAfterWarmUp = 0

    return async ({ index, injected, measured }) => {
      let left = DIALS

      await Promise.all(Array.from({ length: CONCURRENT }, async () => {
        while (left-- > 0) {
          const addr = addrs[left % addrs.length]

          if (random() < 0.1) {
            await abortAtRandom(addr, random)
            injected()
          } else {
            await dialAndEcho(addr)
          }
        }
      }))

      // those that were aborted last close at both ends
      await nothingLeft(before, 5_000)

      const heap = await heapAfterGC()

      if (index < WARM_UP) {
        heapAfterWarmUp = heap
        return
      }

      const growth = heap - heapAfterWarmUp

      measured('KiB of heap more', growth / 1024)

      if (growth > MAX_GROWTH) {
        throw new Error(`the heap grew by ${growth} bytes`)
      }
    }
  }
}
