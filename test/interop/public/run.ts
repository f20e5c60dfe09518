/*
 * Runs the programs for libp2p's public tests against each other, with a real redis-server and without Docker.
 * `--measure` times the transport test over a link of 41 ms each way and writes results.json.
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { wholeFrom } from '../../lab/arguments.ts'
import { say } from '../../lab/process/say.ts'
import { environment } from '../../lab/report/environment.ts'
import { ms, trips } from '../../lab/report/numbers.ts'
import { markdownTable, tableOf } from '../../lab/report/table.ts'
import { median, summarise } from '../../lab/statistics.ts'
import { choose, withChoice } from '../../lab/suite/choose.ts'
import { failedCells, runCells } from '../../lab/suite/run-cells.ts'
import { runSuite } from '../../lab/suite/run-suite.ts'
import { openLab } from '../../nat/lab/lab.ts'
import { buildBinaries } from '../binaries.ts'
import { overLink } from '../dial-cells.ts'
import { missingRedis, startRedis } from './local-redis.ts'
import { runTest } from './programs.ts'
import type { PeerName, RunInit, Test } from './programs.ts'
import type { Summary } from '../../lab/statistics.ts'
import type { Choice } from '../../lab/suite/choose.ts'
import type { Verdict } from '../../lab/suite/run-cells.ts'
import type { SuiteContext } from '../../lab/suite/run-suite.ts'

/** One way, in ms: the two data centers of js-libp2p#3029 */
const DELAY = 41

/** A round trip more or less would show at a tenth of this */
const SMALL = { UPLOAD_BYTES: '10485760', DOWNLOAD_BYTES: '10485760', UPLOAD_ITERATIONS: '2', DOWNLOAD_ITERATIONS: '2', LATENCY_ITERATIONS: '10' }

interface Flags extends Choice {
  measure?: number
}

interface Pair {
  dialer: PeerName
  listener: PeerName
}

interface Measured extends Pair {
  samples: Array<{ handshakePlusOneRtt: number, pingRtt: number }>
}

const JS: PeerName[] = ['ours', 'official']
const LATENCY = ['latency.handshake_plus_one_rtt', 'latency.ping_rtt']

await runSuite(withChoice(new Command('test:public'))
  .option('--measure <runs>', 'only time the transport test over a link, so many runs of each pair', wholeFrom(1)), main)

async function main (flags: Flags, suite: SuiteContext): Promise<string[]> {
  const missing = await missingRedis()

  if (missing != null) {
    say(`SKIPPED: there is no ${missing} on this machine`)

    return process.env.CI == null ? [] : ['There must be redis-server']
  }

  const natives = Object.keys(await buildBinaries()) as PeerName[]
  const redis = await startRedis()

  try {
    return await (flags.measure == null ? testAll : measureAll)(natives, redis.address, flags, suite)
  } finally {
    await redis.close()
  }
}

async function testAll (natives: PeerName[], redis: string, flags: Flags, suite: SuiteContext): Promise<string[]> {
  const peers = [...JS, ...natives]
  const tests: Record<Test, Pair[]> = {
    transport: pairs(peers, peers),
    perf: pairs(JS, JS),
    'hole-punch': [...pairs(['ours'], ['ours', ...natives]), ...pairs(natives, ['ours'])]
  }
  const cells = ['noise', 'tls'].flatMap(security => (Object.keys(tests) as Test[]).flatMap(test => tests[test].map(pair => ({
    name: `${test}, ${nameOf(pair)}, ${security}`,
    run: async () => attempt(pair, { redis, test, signal: suite.signal, env: { SECURE_CHANNEL: security, ...SMALL } })
  }))))

  return failedCells(choose(cells, ({ name }) => name, flags), suite)
}

async function attempt (pair: Pair, init: RunInit): Promise<Verdict> {
  const needed = init.test === 'perf' ? ['upload.median', 'download.median', 'latency.median'] : LATENCY

  try {
    const values = await (init.test === 'hole-punch' ? punch(pair, init) : runTest(pair.dialer, [listenerOf(pair.listener)], init))

    return {
      summary: needed.map(name => `${name} ${values[name]}`).join(', '),
      complaints: needed.filter(name => !(Number(values[name]) > 0)).map(name => `The dialer did not print ${name}`)
    }
  } catch (err: any) {
    return { summary: 'failed', complaints: [err.message] }
  }
}

/** Behind two routers that map addresses as most do at home. The relay is ours */
async function punch ({ dialer, listener }: Pair, init: RunInit): Promise<Record<string, string>> {
  const lab = await openLab({ nats: { a: 'masquerade', b: 'masquerade' }, delay: 20 })
  const places: Record<string, 'a' | 'b' | 'relay'> = { dialer: 'a', listener: 'b', relay: 'relay' }

  try {
    return await runTest(dialer, [
      { place: 'relay', peer: 'ours', env: { RELAY_IP: lab.relayHost } },
      { place: 'listener', peer: listener, env: { LISTENER_IP: '0.0.0.0' } }
    ], { ...init, env: { ...init.env, DIALER_IP: '0.0.0.0' }, under: (place, command) => lab.commandAt(places[place], command) })
  } finally {
    await lab.close()
  }
}

async function measureAll (natives: PeerName[], redis: string, flags: Flags, { signal, command, again }: SuiteContext): Promise<string[]> {
  const contenders: PeerName[] = [...JS, ...natives]
  // each dials its own kind, as the public table's diagonal, and js listeners of the other kind
  const all = [...contenders.map((peer): Pair => ({ dialer: peer, listener: peer })), ...pairs(JS, contenders).filter(({ dialer, listener }) => dialer !== listener)]
  const measured = choose(all, nameOf, flags).map((pair): Measured => ({ ...pair, samples: [] }))

  return overLink(DELAY, async link => {
    // side by side: what the machine does meanwhile comes to all
    await runCells(Array.from({ length: flags.measure ?? 0 }, () => measured).flat().map(pair => ({
      name: nameOf(pair),
      again: again({ only: nameOf(pair), measure: 1 }),
      async run () {
        const values = await runTest(pair.dialer, [listenerOf(pair.listener, link.listenHost)], {
          redis, signal, test: 'transport', env: { SECURE_CHANNEL: 'noise' }, under: (place, command) => link.commandAt(place as 'dialer' | 'listener', command)
        })
        const [handshakePlusOneRtt, pingRtt] = LATENCY.map(name => Number(values[name]))
        pair.samples.push({ handshakePlusOneRtt, pingRtt })

        return handshakePlusOneRtt
      }
    })), signal, time => ({ summary: `${ms(time)} ms` }))

    const times = ({ samples }: Measured): Summary => summarise(samples.map(({ handshakePlusOneRtt }) => handshakePlusOneRtt))

    process.stdout.write(`${link.title}; one round trip takes ${ms(link.roundTrip)} ms\n\n${markdownTable(tableOf(measured, [
      ['dialer', ({ dialer }) => dialer, 'left'],
      ['listener', ({ listener }) => listener, 'left'],
      ['handshake + 1 RTT, ms', pair => ms(times(pair).median)],
      ['all runs', pair => `${ms(times(pair).min)} to ${ms(times(pair).max)}`],
      ['round trips', pair => trips(times(pair).median / link.roundTrip)],
      ['ping RTT, ms', ({ samples }) => ms(median(samples.map(({ pingRtt }) => pingRtt)))]
    ]))}\n`)

    if (measured.length === all.length) {
      await writeFile(path.join(import.meta.dirname, 'results.json'), `${JSON.stringify({ environment: environment(command), roundTrip: link.roundTrip, measured }, undefined, 1)}\n`)
    }

    return []
  })
}

function nameOf ({ dialer, listener }: Pair): string {
  return `${dialer} to ${listener}`
}

function listenerOf (peer: PeerName, ip = '127.0.0.1'): { place: string, peer: PeerName, env: Record<string, string> } {
  return { place: 'listener', peer, env: { LISTENER_IP: ip } }
}

function pairs (dialers: PeerName[], listeners: PeerName[]): Pair[] {
  return dialers.flatMap(dialer => listeners.map(listener => ({ dialer, listener })))
}
