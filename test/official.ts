/* eslint-disable no-console */
/*
 * Runs our behaviour tests against `@libp2p/tcp` and against this transport, and prints where the two differ:
 * a test that everybody passes shows no difference, and one of a fault that the
 * official transport has must fail there. What that does right must pass with both.
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
  9: 'close() over TLS loses data',
  10: 'a socket that is connected to itself is a connection',
  11: 'a peer that closes while a connection gater takes its time ends the process'
}

/** What the official transport does right, so that ours must: a part of the titles of the tests */
const RULES: Record<string, RegExp> = {
  'a peer that resets while a connection gater takes its time harms nobody': /connection gater reads a file.* resets at once/,
  'a name is dialed at the address that answers': /\/dns reaches/,
  'a file behind a connection gater loses nothing that came before the FIN': /connection gater reads a file.*before its FIN/
}

interface Test {
  fullTitle: string
  err: { message?: string }
}

interface Report {
  stats: { tests: number, passes: number, failures: number, pending: number }
  tests: Test[]
  failures: Test[]
}

const OFFICIAL = '@libp2p/tcp'
const OURS = 'libp2p-fast-tcp'

const official = await report(OFFICIAL, 'official')
const ours = await report(OURS, '')

console.info('\nwhere they differ')

for (const { fullTitle, err } of official.failures) {
  if (isKept(ours, fullTitle)) {
    console.info('  only %s fails: %s\n         %s', OFFICIAL, fullTitle, err.message?.split('\n')[0])
  }
}

for (const { fullTitle, err } of ours.failures) {
  console.error('  %s fails: %s\n         %s', isKept(official, fullTitle) ? `only ${OURS}` : `${OURS} too`, fullTitle, err.message?.split('\n')[0])
}

console.info('\nwhat both must keep')

for (const [rule, pattern] of Object.entries(RULES)) {
  console.info('  %s: %s', rule, [official, ours].map((report, i) => `${[OFFICIAL, OURS][i]} ${passed(report, pattern)}`).join(', '))
}

console.info('\nwhat only %s keeps', OURS)

const unseen: string[] = []

for (const [fault, title] of Object.entries(FAULTS)) {
  const count = official.failures.filter(({ fullTitle }) => new RegExp(`\\bfault ${fault}\\b`).test(fullTitle)).length

  console.info('  fault %s, %s: %d tests fail with %s', fault, title, count, OFFICIAL)

  if (count === 0) {
    unseen.push(fault)
  }
}

if (unseen.length > 0) {
  console.error('No test fails for fault %s: are its tests able to fail?', unseen.join(', '))
  process.exitCode = 1
}

if (ours.failures.length > 0) {
  process.exitCode = 1
}

async function report (name: string, transport: string): Promise<Report> {
  console.info('running %d groups of specs with %s', SPECS.length, name)

  const { stdout } = await execa('mocha', [...SPECS, '--no-parallel', '--ui', 'bdd', '--timeout', '60000', '--reporter', 'json', '--exit'], {
    cwd: path.resolve(import.meta.dirname, '..'),
    env: {
      TRANSPORT: transport,
      NODE_ENV: 'test',
      NODE_OPTIONS: '--no-warnings'
    },
    preferLocal: true,
    // tests that fail are what this is about
    reject: false
  })
  const report: Report = JSON.parse(stdout.slice(stdout.indexOf('{\n  "stats"')))
  const { tests, passes, failures, pending } = report.stats

  console.info('%s: %d tests, %d pass, %d fail, %d skipped', name, tests, passes, failures, pending)

  return report
}

function isKept ({ failures }: Report, title: string): boolean {
  return !failures.some(({ fullTitle }) => fullTitle === title)
}

/** `3 of 4`: how many tests pass of those whose titles match */
function passed (report: Report, pattern: RegExp): string {
  const titles = new Set(report.tests.map(({ fullTitle }) => fullTitle).filter(title => pattern.test(title)))

  return `${[...titles].filter(title => isKept(report, title)).length} of ${titles.size}`
}
