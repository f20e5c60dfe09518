import path from 'node:path'
import { expect } from 'aegir/chai'
import { execa } from 'execa'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { packageRoot, scriptPath } from '../lab/script-path.ts'
import { canUseLinux } from '../linux/fixtures/availability.ts'

/** Each prints this, and ends by itself */
const OUTPUT = {
  echo: [
    'echoed: hello'
  ],
  metrics: [
    'the dial failed, as it should: connection error 127.0.0.1:1: connect ECONNREFUSED',
    'libp2p_tcp_dialer_events_total{event="connect"} 1',
    'libp2p_tcp_dialer_events_total{event="error"} 1',
    'libp2p_tcp_optimistic_dials_total{outcome="accepted"} 1',
    'libp2p_optimistic_streams_total{outcome="accepted"} 1',
    ...canUseLinux ? ['libp2p_tcp_sockets{state="read"} 1', 'libp2p_tcp_round_trip_seconds_count'] : []
  ],
  migrate: [
    'after dials before: /noise, /yamux/1.0.0, ping answered',
    'before dials after: /noise, /yamux/1.0.0, ping answered'
  ],
  nat: [
    'the relay sees the listening port: true',
    'reached through the relay: true',
    'ping answered'
  ]
}

describe(`the examples${canReusePort ? '' : ' (SKIPPED: nat.ts, whose ports cannot be shared here)'}`, () => {
  const itAtOnce = testsAtOnce()

  for (const [name, lines] of Object.entries(OUTPUT).filter(([name]) => name !== 'nat' || canReusePort)) {
    itAtOnce(`${name}.ts runs and prints what it says`, async () => {
      const { stdout, stderr } = await execa(process.execPath, [
        '--experimental-strip-types',
        '--no-warnings',
        '--import', scriptPath(import.meta.url, 'fixtures/from-source'),
        path.join(packageRoot(), 'examples', `${name}.ts`)
      ], { timeout: 30_000 })

      for (const line of lines) {
        expect(stdout).to.include(line)
      }

      expect(stderr).to.equal('')
    })
  }
})
