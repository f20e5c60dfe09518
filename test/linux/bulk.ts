/* eslint-disable no-console */
import { setTimeout as wait } from 'node:timers/promises'
import { Command } from 'commander'
import { median } from '../lab/statistics.ts'
import { whileUploading } from './line.ts'
import type { LinkShape } from '../lab/link/link.ts'

/*
 * How fast one stream uploads over a line, with the official transport, with ours, and with options of `linux()` at both ends.
 * Needs root and socat, but over loopback.
 *
 * Congestion control: npm exec -- node test/linux/bulk.ts --delay 41 --loss 1 official without '{"congestion":"bbr"}' '{"congestion":"cubic"}' '{"congestion":"reno"}'
 * Low-water mark: npm exec -- node test/linux/bulk.ts --delay 41 --rate 10 without '{"unsentLowWater":16384}' '{}'
 */

interface Flags {
  delay: number
  loss?: number
  rate?: number
  seconds: number
  rounds: number
}

await new Command('test:bulk')
  .argument('<ends...>', '`official`, `without`, or the options of linux() as JSON')
  .option('--delay <ms>', 'one way', Number, 0)
  .option('--loss <percent>', 'of the packets in each direction', Number)
  .option('--rate <Mbit/s>', 'of the line, whose queue holds 256 KiB', Number)
  .option('--seconds <s>', 'how long each uploads', Number, 15)
  .option('--rounds <n>', 'how often all are measured, in turn', Number, 3)
  .action(main)
  .parseAsync()

async function main (ends: string[], { delay, loss, rate, seconds, rounds }: Flags): Promise<void> {
  const shape: LinkShape = {
    delay,
    loss: loss == null ? undefined : { percent: loss, seed: 1 },
    bottleneck: rate == null ? undefined : { rate, queue: 256 * 1024 }
  }
  const measured = new Map<string, number[]>(ends.map(end => [end, []]))

  for (let round = 0; round < rounds; round++) {
    for (const [end, rates] of measured) {
      rates.push(await measure(shape, end, seconds))
    }
  }

  const slowest = Math.min(...[...measured.values()].map(median))

  console.log('| both ends | Mbit/s (median) | from, to | of the slowest |\n|---|---:|---:|---:|')

  for (const [end, rates] of measured) {
    const middle = median(rates)
    console.log(`| ${end} | ${middle.toFixed(2)} | ${Math.min(...rates).toFixed(2)}, ${Math.max(...rates).toFixed(2)} | ${(middle / slowest).toFixed(1)} |`)
  }
}

/** In Mbit/s, from a second after the beginning on */
async function measure (shape: LinkShape, end: string, seconds: number): Promise<number> {
  return whileUploading(shape, end, async ({ listener }) => {
    await wait(1_000)

    const start = performance.now()
    const before = await listener.ask('received')
    await wait(seconds * 1_000)
    const bytes = await listener.ask('received') - before

    return bytes * 8 / 1e3 / (performance.now() - start)
  })
}
