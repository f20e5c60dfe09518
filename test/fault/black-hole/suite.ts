import { fileURLToPath } from 'node:url'
import { exec } from '../../lab/link/exec.ts'
import { openLink } from '../../lab/link/open-link.ts'
import type { Link, LinkKind } from '../../lab/link/link.ts'
import type { Run, Suite } from '../scenario.ts'
import type { EndTasks } from './end.ts'

const INACTIVITY_TIMEOUT = 2_000

/** What the kernel still takes after the silence has begun counts as activity, and a close takes its time too */
const LIMIT = 2 * INACTIVITY_TIMEOUT + 1_000

/** Connections in each of four states that hear nothing any more in one run */
const PER_STATE = 2

export const blackHole: Suite = {
  name: 'black hole',
  promise: `The device at one end of a link between two network namespaces goes down, and no packet passes: the inactivity timeout of ${INACTIVITY_TIMEOUT / 1_000} s closes every connection at both ends, once, whether it is idle, sends, receives or closes`,
  missing: async () => {
    try {
      const link = await open()
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
  const link = await open()
  defer(async () => link.close())

  const script = fileURLToPath(new URL('./end.ts', import.meta.url))
  const [listener, dialer] = await Promise.all((['listener', 'dialer'] as const).map(async end => (
    link.start<EndTasks>(end, { script, name: `The ${end}` })
  )))

  const address = await listener.ask('start', 0, INACTIVITY_TIMEOUT, link.listenHost)
  await dialer.ask('start', index, INACTIVITY_TIMEOUT)
  await dialer.ask('open', address ?? '', PER_STATE)

  takeDown(link)
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

/** Proxies end TCP, and cannot lose a packet */
async function open (): Promise<Link> {
  let reason: unknown

  for (const kind of ['netem', 'relay'] satisfies LinkKind[]) {
    try {
      return await openLink({ delay: 5 }, kind)
    } catch (err) {
      reason = err
    }
  }

  throw reason
}

/** At the end of the listener, so that the dialer hears nothing of it */
function takeDown (link: Link): void {
  const devices: Array<{ ifname: string }> = JSON.parse(execAt(link, 'ip', '-j', 'link'))

  for (const { ifname } of devices.filter(({ ifname }) => ifname !== 'lo')) {
    execAt(link, 'ip', 'link', 'set', ifname, 'down')
  }
}

function execAt (link: Link, ...command: string[]): string {
  const [file, ...args] = link.commandAt('listener', command)

  return exec(file, ...args)
}
