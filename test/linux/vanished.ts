/* eslint-disable no-console */
import { setTimeout as wait } from 'node:timers/promises'
import { Command } from 'commander'
import { whileUploading } from './line.ts'

/*
 * How long a node that sends takes to notice that its peer has vanished: from one moment on the line loses all packets. Fails where
 * that takes longer than `userTimeout` and a second. libp2p's connection monitor is off. Needs root and socat.
 *
 * npm exec -- node test/linux/vanished.ts
 */

const ENDS = ['official', 'without', '{}', '{"userTimeout":5000}', '{"userTimeout":30000}']

await new Command('test:vanished')
  .option('--patience <s>', 'how long to wait at most', Number, 150)
  .option('--delay <ms>', 'one way', Number, 41)
  .action(async ({ patience, delay }: { patience: number, delay: number }) => {
    console.log('| sender | noticed after | error |\n|---|---:|---|')
    await Promise.all(ENDS.map(async end => measure(end, patience, delay)))
  })
  .parseAsync()

async function measure (end: string, patience: number, delay: number): Promise<void> {
  await whileUploading({ delay, bottleneck: { rate: 10, queue: 256 * 1024 } }, end, async ({ link, dialer }) => {
    await wait(2_000)

    const ended = dialer.ask('ended', patience * 1_000)
    await link.lose?.({ percent: 100, seed: 1 })
    const result = await ended

    console.log(`| ${end} | ${result == null ? `more than ${patience} s` : `${(result.ms / 1_000).toFixed(1)} s`} | ${result?.error ?? ''} |`)

    const { userTimeout } = end.startsWith('{') ? JSON.parse(end) : {}

    if (userTimeout != null && (result == null || result.ms > userTimeout + 1_000)) {
      console.error('more than the timeout and a second')
      process.exitCode = 1
    }
  })
}
