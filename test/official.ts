/* eslint-disable no-console */
/*
 * Runs our behaviour tests against `@libp2p/tcp` and prints which it fails:
 * a test that everybody passes shows no difference, and one of a fault that the
 * official transport has must fail there.
 */
import path from 'node:path'
import { execa } from 'execa'

const SPECS = [
  'test/compliance/**/*.spec.ts',
  'test/connection/**/*.spec.ts',
  'test/dial/**/*.spec.ts',
  'test/integration/**/*.spec.ts',
  'test/listener/**/*.spec.ts',
  'test/unit/transport.spec.ts'
]

/** What the official transport gets wrong. The titles of the tests bear the numbers; docs/differences.md says more */
const FAULTS = {
  1: 'close() and the peer\'s FIN lose data',
  2: 'the inactivity timeout does nothing after the peer\'s FIN',
  3: 'close() waits for ever, and a second close() not at all',
  4: 'listeners that pause do not resume, and lose count of their sockets',
  5: 'options and parts of addresses are ignored',
  6: 'each buffer is written alone',
  7: 'onDrain() waits only once',
  8: 'clean closes are counted on the wrong side',
  9: 'close() over TLS loses data'
}

interface Report {
  stats: { tests: number, passes: number, failures: number, pending: number }
  failures: Array<{ fullTitle: string, err: { message?: string } }>
}

console.info('running %d groups of specs against @libp2p/tcp', SPECS.length)

const { stdout } = await execa('mocha', [...SPECS, '--no-parallel', '--ui', 'bdd', '--timeout', '60000', '--reporter', 'json', '--exit'], {
  cwd: path.resolve(import.meta.dirname, '..'),
  env: {
    TRANSPORT: 'official',
    NODE_ENV: 'test',
    NODE_OPTIONS: '--no-warnings'
  },
  preferLocal: true,
  // tests that fail are what this is about
  reject: false
})

const report: Report = JSON.parse(stdout.slice(stdout.indexOf('{\n  "stats"')))
const { tests, passes, failures, pending } = report.stats

for (const { fullTitle, err } of report.failures) {
  console.info('  fails: %s\n         %s', fullTitle, err.message?.split('\n')[0])
}

console.info('\n@libp2p/tcp: %d tests, %d pass, %d fail, %d skipped', tests, passes, failures, pending)

const unseen: string[] = []

for (const [fault, title] of Object.entries(FAULTS)) {
  const count = report.failures.filter(({ fullTitle }) => fullTitle.includes(`fault ${fault}`)).length

  console.info('fault %s, %s: %d fail', fault, title, count)

  if (count === 0) {
    unseen.push(fault)
  }
}

if (unseen.length > 0) {
  console.error('No test fails for fault %s: are its tests able to fail?', unseen.join(', '))
  process.exitCode = 1
}
