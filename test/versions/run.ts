/* eslint-disable no-console */
/*
 * Runs behaviour tests against the oldest versions of libp2p's packages that fit, and the newest on the
 * registry, and writes test/versions/RESULTS.md.
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { listOf, oneOf } from '../lab/arguments.ts'
import { markdownTable } from '../lab/report/table.ts'

const root = path.resolve(import.meta.dirname, '../..')
const page = path.join(root, 'test/versions/RESULTS.md')

/** What users install beside the transport. The oldest that run on the oldest `@libp2p/interface` of package.json */
const OLDEST = {
  '@libp2p/interface': '3.3.0',
  '@libp2p/utils': '7.4.1',
  libp2p: '3.3.0',
  // 8.0.0 and 8.0.1 raise an unhandled rejection where a connection fails with an open stream, with every transport
  '@libp2p/yamux': '8.0.3',
  '@libp2p/noise': '17.0.2',
  '@libp2p/identify': '4.1.0',
  '@libp2p/tls': '3.1.0',
  '@libp2p/dcutr': '3.0.18',
  // as 8.0.0 does
  '@chainsafe/libp2p-yamux': '8.0.1',
  '@chainsafe/libp2p-noise': '17.0.0'
}

type Name = keyof typeof OLDEST

const NAMES = Object.keys(OLDEST) as Name[]
const SETS = {
  oldest: OLDEST,
  newest: Object.fromEntries(NAMES.map(name => [name, 'latest'])) as Record<Name, string>
}

type SetName = keyof typeof SETS

/** From before the range: made for libp2p 2 */
const TOO_OLD = '@chainsafe/libp2p-yamux@7.0.4'

/** Those that rest on the packages most */
const SPECS = [
  'test/compliance/*.spec.ts',
  'test/connection/{backpressure,close,remote-fin}.spec.ts',
  'test/integration/{nodes,leave-in-upgrade,tls-close}.spec.ts',
  'test/negotiation/{dial-encrypters,early-streams,encrypter,muxer-compliance}.spec.ts',
  'test/negotiation/stream-*.spec.ts'
]

interface Report {
  stats: { passes: number, failures: number }
  failures: Array<{ fullTitle: string, err: { message?: string } }>
}

interface Row {
  set: SetName
  versions: string[]
  report: Report

  /** What `optimistic()` says of {@link TOO_OLD} */
  refusal: string
}

const setNames = Object.keys(SETS) as SetName[]

await new Command('test:versions')
  .option('--only <sets>', setNames.join(), listOf(oneOf(setNames)), setNames)
  .action(async ({ only }: { only: SetName[] }) => {
    const rows: Row[] = []

    for (const set of only) {
      rows.push(await run(set))
    }

    if (only.length === setNames.length) {
      await writeFile(page, pageOf(rows))
      console.info('wrote %s', path.relative(root, page))
    }

    process.exitCode = rows.every(({ report }) => report.stats.failures === 0 && report.stats.passes > 0) && rows.every(({ refusal }) => refusal.startsWith('IncompatibleMuxerError')) ? 0 : 1
  })
  .parseAsync()

async function run (set: SetName): Promise<Row> {
  const copy = await mkdtemp(path.join(os.tmpdir(), 'fast-tcp-versions-'))

  try {
    for (const name of ['src', 'test', 'benchmarks', 'examples', 'docs', 'package.json', 'package-lock.json', 'tsconfig.json']) {
      await cp(path.join(root, name), path.join(copy, name), { recursive: true, filter: file => !file.endsWith('/node_modules') })
    }

    console.info('%s: installing', set)
    await pin(copy, SETS[set])
    await rm(path.join(copy, 'package-lock.json'))
    await execa('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'], { cwd: copy })
    // a package, whose binary the step above did not unpack
    await rm(path.join(copy, 'node_modules/node'), { recursive: true, force: true })
    await symlink(path.join(root, 'node_modules/node'), path.join(copy, 'node_modules/node'))

    const versions = await Promise.all(NAMES.map(async name => versionOf(copy, name)))

    console.info('%s: %s', set, NAMES.map((name, i) => `${name} ${versions[i]}`).join(', '))

    const { stdout } = await execa(process.execPath, ['node_modules/mocha/bin/mocha.js', ...SPECS, '--no-parallel', '--ui', 'bdd', '--timeout', '60000', '--reporter', 'json', '--exit'], {
      cwd: copy,
      env: { NODE_ENV: 'test', NODE_OPTIONS: '--no-warnings' },
      reject: false
    })
    const report: Report = JSON.parse(stdout.slice(stdout.indexOf('{\n  "stats"')))

    console.info('%s: %d pass, %d fail', set, report.stats.passes, report.stats.failures)
    report.failures.forEach(({ fullTitle, err }) => { console.info('  fails: %s\n         %s', fullTitle, err.message?.split('\n')[0]) })

    const refusal = await refusalOf(copy, TOO_OLD)

    console.info('%s: %s is refused: %s', set, TOO_OLD, refusal)

    return { set, versions, report, refusal }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** The error of a dial */
async function refusalOf (copy: string, version: string): Promise<string> {
  const folder = path.join(copy, 'too-old')
  await execa('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, `old@npm:${version}`])
  const { stdout } = await execa(process.execPath, ['test/foreign/fixtures/refusals.ts', path.join(folder, 'node_modules/old/dist/src/index.js')], { cwd: copy, env: { NODE_NO_WARNINGS: '1' } })

  return JSON.parse(stdout).dialer
}

/** Nested copies get the same version, so that everything runs on it */
async function pin (copy: string, versions: Record<Name, string>): Promise<void> {
  const file = path.join(copy, 'package.json')
  const manifest = JSON.parse(await readFile(file, 'utf8'))

  for (const [name, version] of Object.entries(versions)) {
    const kind = manifest.dependencies[name] == null ? 'devDependencies' : 'dependencies'

    manifest[kind][name] = version
    manifest.overrides[name] = `$${name}`
  }

  await writeFile(file, JSON.stringify(manifest, undefined, 2))
}

async function versionOf (copy: string, name: string): Promise<string> {
  return JSON.parse(await readFile(path.join(copy, 'node_modules', name, 'package.json'), 'utf8')).version
}

function pageOf (rows: Row[]): string {
  return [
    '# Versions of libp2p',
    `The oldest versions of libp2p's packages that fit, and the newest on the registry. Written by \`npm run test:versions\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.version}; do not edit.`,
    markdownTable({
      columns: [{ title: 'package', align: 'left' }, ...rows.map(({ set }) => ({ title: set }))],
      rows: [
        ...NAMES.map((name, i) => [`\`${name}\``, ...rows.map(({ versions }) => versions[i])]),
        ['behaviour tests that pass', ...rows.map(({ report: { stats } }) => `${stats.passes} of ${stats.passes + stats.failures}`)]
      ]
    }),
    `\`optimistic()\` refuses a muxer that was made for libp2p 2. \`${TOO_OLD}\` gets this error:

\`\`\`
${rows[0].refusal}
\`\`\`

A dial with \`@libp2p/noise\` 16 or older fails with an \`EncryptionFailedError\`, whatever the transport.`,
    'Older releases of yamux 8 raise an unhandled rejection if a connection fails while a stream is open, and Node then ends the process. `@libp2p/yamux` 8.0.3 and `@chainsafe/libp2p-yamux` 8.0.1 cure it.'
  ].join('\n\n') + '\n'
}
