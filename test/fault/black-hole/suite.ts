import { fileURLToPath } from 'node:url'
import { openLink } from '../../lab/link/open-link.ts'
import type { Run, Suite } from '../scenario.ts'
import type { EndTasks } from './end.ts'

const INACTIVITY_TIMEOUT = 2_000

/** A muxer whose ping is not answered for so long hands the kernel more, in ms */
const SEND_WINDOW_GONE = 2_000

/** What the kernel still takes after the silence has begun counts as activity, and a close takes its time too */
const LIMIT = SEND_WINDOW_GONE + 2 * INACTIVITY_TIMEOUT + 1_000

/** Of a link that can lose all packets: proxies end TCP */
const SHAPE = { delay: 5 }

/** Connections in each of four states that hear nothing any more in one run */
const PER_STATE = 2

export const blackHole: Suite = {
  name: 'black hole',
  promise: `A link between two network namespaces loses every packet: the inactivity timeout of ${INACTIVITY_TIMEOUT / 1_000} s closes every connection at both ends, once, whether it is idle, sends, receives or closes`,
  missing: async () => {
    try {
      const link = await openLink(SHAPE, 'relay')
      await link.close()
    } catch (err: any) {
      return err.message
    }
  },
  scenarios: [{
    name: `${4 * PER_STATE} connections: idle, sending, receiving, closing`,
    runs: 5,
    timeout: 120_000,
    prepare: async () => blackOut
  }]
}

async function blackOut (run: Run): Promise<void> {
  const { index, defer, injected, measured } = run
  const link = await openLink(SHAPE, 'relay')
  defer(async () => link.close())

  const script = fileURLToPath(new URL('./end.ts', import.meta.url))
  const [listener, dialer] = await Promise.all((['listener', 'dialer'] as const).map(async end => (
    link.start<EndTasks>(end, { script, name: `The ${end}` })
  )))

  const address = await listener.ask('start', 0, INACTIVITY_TIMEOUT, link.listenHost)
  await dialer.ask('start', index, INACTIVITY_TIMEOUT)
  await dialer.ask('open', address ?? '', PER_STATE)

  await link.lose?.({ percent: 100, seed: 1 })
  injected(4 * PER_STATE)
  await Promise.all([listener.ask('silent'), dialer.ask('silent')])

  const [atDialer, atListener] = await Promise.all([dialer.ask('ended', 2 * LIMIT), listener.ask('ended', 2 * LIMIT)])

  for (const { state, ms, times } of atDialer.endings) {
    if (times !== 1 || ms == null) {
      throw new Error(`${state}: the connection closed ${times} times`)
    }

    measured(`${state} ms`, ms)

    if (ms > LIMIT) {
      throw new Error(`${state}: the connection closed after ${ms} ms`)
    }
  }

  if (atDialer.left + atListener.left > 0) {
    throw new Error(`${atDialer.left} connections are left at the dialer, ${atListener.left} at the listener`)
  }
}
