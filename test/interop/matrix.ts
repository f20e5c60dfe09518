import { Command, Option } from 'commander'
import { numberFrom, wholeFrom } from '../lab/arguments.ts'
import { buildBinaries } from '../lab/peers/build.ts'
import { median } from '../lab/statistics.ts'
import { runSuite } from '../lab/suite.ts'
import { DIALS } from './cells.ts'
import { Peers, possible, verdictOf } from './dial.ts'
import type { Dial } from './cells.ts'
import type { Link } from '../lab/link/link.ts'
import type { Cell } from '../lab/suite.ts'

/*
 * Dials go-libp2p, rust-libp2p and the official js-libp2p from ours and the other way round: many times over loopback, with a large echo,
 * and a few times over two delayed links to count round trips.
 */

interface Flags {
  dials: number
  runs: number
  delay: number
  delayed: boolean
  transport?: string
}

const ECHO_BYTES = 256 * 1024
const WARM_UPS = 2
const TIMEOUT = 10_000

await runSuite<Flags>(new Command('suite interop')
  .option('--dials <count>', 'dials of a cell over loopback', wholeFrom(1), 100)
  .option('--runs <count>', 'measured dials of a cell over the delayed link', wholeFrom(1), 10)
  .option('--delay <ms>', 'one-way delay of that link', numberFrom(1), 40)
  .addOption(new Option('--transport <name>', 'ours with the option reusePort, where dialers listen too, or with fastOpen').choices(['reuse-port', 'fast-open']))
  .option('--no-delayed', 'skip that link'), async ({ dials, runs, delay, delayed, transport }, signal) => {
  if (transport != null) {
    // the peers inherit it: test/fixtures/transport.ts
    process.env.TRANSPORT = transport
  }

  const binaries = await buildBinaries()
  const [near, far, farther] = [0, delay, 3 * delay].map(delay => new Peers(binaries, delayed ? delay : 0))
  const medians = new Map<string, number>()

  /** First bytes, in ms */
  const timesTo = async (peers: Peers, dial: Dial): Promise<{ times: number[], complaints: string[], link: Link }> => {
    const { outcomes, link } = await peers.dial(dial, { count: WARM_UPS + runs, bytes: 1, timeout: TIMEOUT }, signal)

    return {
      times: outcomes.slice(WARM_UPS).flatMap(({ ok, firstByteMs = NaN }) => ok ? [firstByteMs] : []),
      complaints: verdictOf(outcomes).complaints,
      link
    }
  }

  return {
    end: async () => Promise.all([near.close(), far.close(), farther.close()]),
    cells: possible(DIALS, binaries).map(({ dial, name }): Cell => ({
      name,
      async run () {
        const { outcomes } = await near.dial(dial, { count: dials, bytes: ECHO_BYTES, timeout: TIMEOUT }, signal)
        const { summary, complaints } = verdictOf(outcomes)

        if (!delayed) {
          return { summary, complaints }
        }

        const { times, link, complaints: failures } = await timesTo(far, dial)
        const official = medians.get(`${dial.listener} ${dial.identify ?? ''}`)
        const most = link.hiddenRoundTrips === 0 ? roundTripsAtMost(dial) : Infinity
        // what the ends compute takes as long over a longer link
        const longer = most < Infinity ? await timesTo(farther, dial) : undefined
        const counted = longer == null ? NaN : (Math.min(...longer.times) - Math.min(...times)) / (longer.link.roundTrip - link.roundTrip)

        if (dial.dialer === 'official') {
          medians.set(`${dial.listener} ${dial.identify ?? ''}`, median(times))
        }

        return {
          summary: [
            summary,
            `${(median(times) / link.roundTrip).toFixed(2)} round trips of ${link.roundTrip.toFixed(1)} ms${link.hiddenRoundTrips === 0 ? '' : ' and that of the SYN'}`,
            ...longer == null ? [] : [`${counted.toFixed(2)} without what the ends compute`],
            ...dial.dialer === 'ours' && official != null ? [`${(median(times) / official).toFixed(2)} of official`] : []
          ].join(' · '),
          complaints: [
            ...complaints,
            ...failures,
            ...longer?.complaints ?? [],
            ...Math.round(counted) > most ? [`${counted.toFixed(2)} round trips, more than ${most}`] : []
          ],
          raw: times
        }
      }
    }))
  }
})

/** What the README promises, to every listener. A rust listener negotiates its muxer on its own, which is the encrypter's to save */
function roundTripsAtMost ({ optimism, identify, listener }: Dial): number {
  // to official with identify it is 3 or 4: the echo is among the packets of TCP's first congestion window, or not
  if (identify === true && listener === 'official') {
    return Infinity
  }

  switch (optimism) {
    case 'all':
    case 'known': return 3
    case 'transport': return listener === 'rust' ? Infinity : 4
    default: return Infinity
  }
}
