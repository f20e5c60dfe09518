/*
 * Runs the program for libp2p's public transport test against itself and against `@libp2p/tcp`, with a real redis-server and without
 * Docker.
 */
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { runSuite } from '../../lab/suite.ts'
import { startRedis } from './local-redis.ts'
import type { Verdict } from '../../lab/suite.ts'

const STACKS = ['ours', 'official']

await runSuite(new Command('suite public'), async (_, signal) => {
  const { failed } = await execa('redis-server', ['--version'], { reject: false })

  if (failed) {
    return { cells: [], missing: 'there is no redis-server (the package of that name in Debian and Ubuntu) on this machine' }
  }

  const redis = await startRedis()
  const pairs = STACKS.flatMap(dialer => STACKS.map(listener => ({ dialer, listener })))

  return {
    end: redis.close,
    cells: ['noise', 'tls'].flatMap(security => ['yamux', 'mplex'].flatMap(muxer => pairs.map(({ dialer, listener }, i) => ({
      name: `${dialer} to ${listener}, ${security}, ${muxer}`,
      run: async () => dial(dialer, listener, { SECURE_CHANNEL: security, MUXER: muxer, TEST_KEY: `${security}${muxer}${i}`, REDIS_ADDR: redis.address }, signal)
    }))))
  }
})

/** As docker compose does it: what the dialer prints is the result, and the listener is ended when it ends */
async function dial (dialer: string, listener: string, env: Record<string, string>, signal: AbortSignal): Promise<Verdict> {
  const start = (stack: string, env: Record<string, string>) => execa(process.execPath, ['--no-warnings', path.join(import.meta.dirname, 'transport.ts')], { // eslint-disable-line @typescript-eslint/explicit-function-return-type
    env: { ...env, STACK: stack, TRANSPORT: 'tcp', LISTENER_IP: '127.0.0.1', TEST_TIMEOUT_SECS: '30' }, reject: false, timeout: 60_000, cancelSignal: signal
  })
  const listening = start(listener, env)

  try {
    const { stdout, stderr, failed, shortMessage } = await start(dialer, { ...env, IS_DIALER: 'true' })
    const times = /^latency:\n {2}handshake_plus_one_rtt: ([\d.]+)\n {2}ping_rtt: ([\d.]+)\n {2}unit: ms$/.exec(stdout)

    if (failed || times == null) {
      throw new Error(`${shortMessage}\n${stderr}\n${stdout}`)
    }

    return { summary: `handshake and a round trip ${times[1]} ms, ping ${times[2]} ms` }
  } finally {
    listening.kill()
    await listening
  }
}
