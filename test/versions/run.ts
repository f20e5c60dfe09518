/*
 * Runs behaviour tests against the oldest versions of libp2p's packages that fit, and the newest on the registry.
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { runSpecs } from '../lab/run-specs.ts'
import { runSuite } from '../lab/suite.ts'
import type { Verdict } from '../lab/suite.ts'

const root = path.resolve(import.meta.dirname, '../..')

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

/** Those that rest on the packages most */
const SPECS = [
  'test/compliance/*.spec.ts',
  'test/connection/{backpressure,close,remote-fin}.spec.ts',
  'test/integration/{nodes,leave-in-upgrade,tls-close}.spec.ts',
  'test/negotiation/{dial-encrypters,early-streams,encrypter,muxer-compliance}.spec.ts',
  'test/negotiation/stream-*.spec.ts'
]

await runSuite(new Command('suite versions'), async (_, signal) => ({
  cells: Object.entries(SETS).map(([name, wanted]) => ({ name, run: async () => run(wanted, signal) }))
}))

async function run (wanted: Record<Name, string>, signal: AbortSignal): Promise<Verdict> {
  const copy = await mkdtemp(path.join(os.tmpdir(), 'fast-tcp-versions-'))

  try {
    for (const name of ['src', 'test', 'benchmarks', 'examples', 'docs', 'package.json', 'package-lock.json', 'tsconfig.json']) {
      await cp(path.join(root, name), path.join(copy, name), { recursive: true, filter: file => !['node_modules', '.bin'].includes(path.basename(file)) })
    }

    await pin(copy, wanted)
    await rm(path.join(copy, 'package-lock.json'))
    await execa('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'], { cwd: copy, cancelSignal: signal })
    // a package, whose binary the step above did not unpack
    await rm(path.join(copy, 'node_modules/node'), { recursive: true, force: true })
    await symlink(path.join(root, 'node_modules/node'), path.join(copy, 'node_modules/node'))

    const versions = await Promise.all(NAMES.map(async name => versionOf(copy, name)))
    const { passes, failures } = await runSpecs(SPECS, { cwd: copy, signal })

    return {
      summary: `${passes.length} pass, ${failures.length} fail with ${NAMES.map((name, i) => `${name} ${versions[i]}`).join(', ')}`,
      complaints: [
        ...failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message?.split('\n')[0]}`),
        ...passes.length > 0 ? [] : ['no spec has passed']
      ]
    }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
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
