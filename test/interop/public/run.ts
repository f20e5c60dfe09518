/* eslint-disable no-console */
/*
 * Runs the programs for libp2p's public tests against each other, with a real redis-server and without Docker.
 * `--measure` times the transport test over a link of 41 ms each way and writes results.json.
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { wholeFrom } from '../../lab/arguments.ts'
import { openLink } from '../../lab/link/open-link.ts'
import { environment, rememberCommit } from '../../lab/report/environment.ts'
import { markdownTable } from '../../lab/report/table.ts'
import { summarise } from '../../lab/statistics.ts'
import { openLab } from '../../nat/lab/lab.ts'
import { buildBinaries } from '../binaries.ts'
import { missingRedis, startRedis } from './local-redis.ts'
import { runTest } from './programs.ts'
import type { PeerName } from './programs.ts'

/** One way, in ms: the two data centers of js-libp2p#3029 */
const DELAY = 41

/** A round trip more or less would show at a tenth of this */
const SMALL = { UPLOAD_BYTES: '10485760', DOWNLOAD_BYTES: '10485760', UPLOAD_ITERATIONS: '2', DOWNLOAD_ITERATIONS: '2', LATENCY_ITERATIONS: '10' }

interface Flags {
  measure?: number
}

interface Measured {
  dialer: PeerName
  listener: PeerName
  samples: Array<{ handshakePlusOneRtt: number, pingRtt: number }>
}

rememberCommit()

await new Command('test:public')
  .option('--measure <runs>', 'only time the transport test over a link, so many runs of each pair', wholeFrom(1))
  .action(main)
  .parseAsync()

async function main ({ measure }: Flags): Promise<void> {
  const missing = await missingRedis()

  if (missing != null) {
    console.info('SKIPPED: there is no %s on this machine', missing)
    process.exitCode = process.env.CI == null ? 0 : 1

    return
  }

  const natives = Object.keys(await buildBinaries()) as PeerName[]
  const redis = await startRedis()

  try {
    await (measure == null ? testAll(natives, redis.address) : measureAll(natives, redis.address, measure))
  } finally {
    await redis.close()
  }
}

async function testAll (natives: PeerName[], redis: string): Promise<void> {
  const peers: PeerName[] = ['ours', 'official', ...natives]
  const js: PeerName[] = ['ours', 'official']
  let failed = 0
  let all = 0

  const attempt = async (name: string, run: () => Promise<Record<string, string>>, needed: string[]): Promise<void> => {
    all++

    try {
      const values = await run()
      const absent = needed.filter(value => !(Number(values[value]) > 0))

      if (absent.length > 0) {
        throw new Error(`The dialer did not print ${absent.join(', ')}`)
      }

      console.info('pass: %s, %s', name, needed.map(value => `${value} ${values[value]}`).join(', '))
    } catch (err: any) {
      failed++
      console.error('FAIL: %s: %s', name, err.message)
    }
  }

  for (const security of ['noise', 'tls']) {
    for (const [dialer, listener] of pairs(peers, peers)) {
      await attempt(`transport, ${dialer} to ${listener}, ${security}`, async () => runTest(dialer, [listenerOf(listener)], {
        redis, test: 'transport', env: { SECURE_CHANNEL: security }
      }), ['latency.handshake_plus_one_rtt', 'latency.ping_rtt'])
    }

    for (const [dialer, listener] of pairs(js, js)) {
      await attempt(`perf, ${dialer} to ${listener}, ${security}`, async () => runTest(dialer, [listenerOf(listener)], {
        redis, test: 'perf', env: { SECURE_CHANNEL: security, ...SMALL }
      }), ['upload.median', 'download.median', 'latency.median'])
    }

    for (const [dialer, listener] of [...pairs<PeerName>(['ours'], ['ours', ...natives]), ...pairs<PeerName>(natives, ['ours'])]) {
      await attempt(`hole punching, ${dialer} to ${listener}, ${security}`, async () => punch(dialer, listener, security, redis), ['latency.handshake_plus_one_rtt', 'latency.ping_rtt'])
    }
  }

  console.info('%d of %d pass', all - failed, all)
  process.exitCode = failed === 0 ? 0 : 1
}

/** Behind two routers that map addresses as most do at home. The relay is ours */
async function punch (dialer: PeerName, listener: PeerName, security: string, redis: string): Promise<Record<string, string>> {
  const lab = await openLab({ nats: { a: 'masquerade', b: 'masquerade' }, delay: 20 })
  const places: Record<string, 'a' | 'b' | 'relay'> = { dialer: 'a', listener: 'b', relay: 'relay' }

  try {
    return await runTest(dialer, [
      { place: 'relay', peer: 'ours', env: { RELAY_IP: lab.relayHost } },
      { place: 'listener', peer: listener, env: { LISTENER_IP: '0.0.0.0' } }
    ], {
      redis,
      test: 'hole-punch',
      env: { SECURE_CHANNEL: security, DIALER_IP: '0.0.0.0' },
      under: (place, command) => lab.commandAt(places[place], command)
    })
  } finally {
    await lab.close()
  }
}

async function measureAll (natives: PeerName[], redis: string, runs: number): Promise<void> {
  const link = await openLink({ delay: DELAY })
  const contenders: PeerName[] = ['ours', 'official', ...natives]
  // each dials its own kind, as the public table's diagonal, and js listeners of the other kind
  const measured: Measured[] = [...contenders.map(peer => [peer, peer]), ['ours', 'official'], ['official', 'ours'], ['ours', 'rust'], ['official', 'rust'], ['ours', 'go'], ['official', 'go']]
    .map(([dialer, listener]) => ({ dialer: dialer as PeerName, listener: listener as PeerName, samples: [] }))

  try {
    for (let run = 0; run < runs; run++) {
      // side by side: what the machine does meanwhile comes to all
      for (const { dialer, listener, samples } of measured) {
        const values = await runTest(dialer, [listenerOf(listener, link.listenHost)], {
          redis, test: 'transport', env: { SECURE_CHANNEL: 'noise' }, under: (place, command) => link.commandAt(place as 'dialer' | 'listener', command)
        })

        samples.push({ handshakePlusOneRtt: Number(values['latency.handshake_plus_one_rtt']), pingRtt: Number(values['latency.ping_rtt']) })
      }
    }

    const rows = measured.map(({ dialer, listener, samples }) => {
      const { median, min, max } = summarise(samples.map(({ handshakePlusOneRtt }) => handshakePlusOneRtt))

      return [dialer, listener, median.toFixed(0), `${min.toFixed(0)} to ${max.toFixed(0)}`, (median / link.roundTrip).toFixed(1), summarise(samples.map(({ pingRtt }) => pingRtt)).median.toFixed(0)]
    })

    console.info('%s; one round trip takes %d ms\n\n%s', link.title, Math.round(link.roundTrip), markdownTable({
      columns: [{ title: 'dialer', align: 'left' }, { title: 'listener', align: 'left' }, { title: 'handshake + 1 RTT, ms' }, { title: 'all runs' }, { title: 'round trips' }, { title: 'ping RTT, ms' }],
      rows
    }))
    await writeFile(path.join(import.meta.dirname, 'results.json'), `${JSON.stringify({ environment: environment(`npm run test:public -- --measure ${runs}`), roundTrip: link.roundTrip, measured }, undefined, 1)}\n`)
  } finally {
    await link.close()
  }
}

function listenerOf (peer: PeerName, ip = '127.0.0.1'): { place: string, peer: PeerName, env: Record<string, string> } {
  return { place: 'listener', peer, env: { LISTENER_IP: ip } }
}

function pairs <T> (left: T[], right: T[]): Array<[T, T]> {
  return left.flatMap(one => right.map((other): [T, T] => [one, other]))
}
