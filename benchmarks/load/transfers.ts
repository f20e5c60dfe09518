import { openLink } from '../../test/lab/link/open-link.ts'
import { addressOf, atAddress } from '../../test/lab/peers/address.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import type { JsName, TransferRow } from './report.ts'
import type { LoadTasks } from './worker.ts'
import type { LinkKind } from '../../test/lab/link/link.ts'

/** What is transferred over a long line without a rate, and in how many ms the line goes and comes */
export const SIZE = 64 * 2 ** 20
const ROUND_TRIP = 80

/** Senders and receivers: what our windows and our send window cost */
const TRANSFERS: Array<[JsName, JsName]> = [
  ['official', 'official'],
  ['official', 'ours'],
  ['no-window', 'official'],
  ['ours', 'official']
]

/** The same transfer by each pair in turn, each on a new connection */
export async function measureTransfers (kind: LinkKind, rounds: number): Promise<TransferRow[]> {
  const link = await openLink({ delay: ROUND_TRIP / 2 }, kind)

  return withCleanUp(async () => link.close(), async () => {
    const rows = await Promise.all(TRANSFERS.map(async ([sender, receiver]) => {
      const start = async (end: 'dialer' | 'listener', name: JsName): ReturnType<typeof link.start<LoadTasks>> => (
        link.start<LoadTasks>(end, { script: scriptPath(import.meta.url, 'worker'), args: [name], name: `${name} ${end}` })
      )
      const [dialer, listener] = await Promise.all([start('dialer', sender), start('listener', receiver)])
      const address = await listener.ask('listen', link.listenHost)
      const row: TransferRow = { link: kind, sender, receiver, took: [] }

      return { dialer, row, address: atAddress(address, await link.dialAddress(addressOf(address).port)) }
    }))

    for (let round = 0; round <= rounds; round++) {
      for (const { dialer, row, address } of rows) {
        const took = await dialer.ask('transfer', address, SIZE)

        // the first one compiles
        if (round > 0) {
          row.took.push(Math.round(took))
        }
      }
    }

    return rows.map(({ row }) => row)
  })
}
