/* eslint-disable no-console */
/*
 * How long multistream-select keeps the event loop of a listener busy with 64 KiB of messages `na`, which a dialer sends in
 * place of a negotiation. The dialer is a process of its own.
 */
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { execa } from 'execa'
import { createLibp2p } from 'libp2p'
import { portOf } from '../fixtures/raw.ts'
import { stack } from '../lab/stacks.ts'
import { HEADER, joined, message } from '../negotiation/fixtures/proposals.ts'

const RUNS = 10
const MESSAGES = 16_384

if (process.argv[2] == null) {
  await listen()
} else {
  const socket = net.connect(Number(process.argv[2]), '127.0.0.1')

  socket.on('error', () => {})
  socket.resume()
  socket.write(joined(HEADER, ...Array.from({ length: MESSAGES }, () => message('na'))))
}

async function listen (): Promise<void> {
  const node = await createLibp2p({ addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }, ...stack('plain') })

  for (let run = 0; run < RUNS; run++) {
    const dialer = execa(process.execPath, ['--no-warnings', import.meta.filename, `${portOf(node.getMultiaddrs()[0])}`], { reject: false })
    const longest = await longestTurn(3_000)

    console.info('Node %s: the longest turn took %d ms, %s us a message', process.version, Math.round(longest), (longest / MESSAGES * 1_000).toFixed(1))
    dialer.kill()
    await dialer
    await setTimeout(1_000)
  }

  await node.stop()
}

/** In ms, while this many of them pass */
async function longestTurn (ms: number): Promise<number> {
  const started = performance.now()
  let longest = 0

  for (let last = started; last - started < ms;) {
    await setImmediate()
    const now = performance.now()

    longest = Math.max(longest, now - last)
    last = now
  }

  return longest
}
