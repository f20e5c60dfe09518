import { createHash } from 'node:crypto'
import { access, constants, copyFile, mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { packageRoot } from '../script-path.ts'

export type PeerName = 'go' | 'rust'

/** The peers of the NAT lab and of the public tests are programs of their own */
export type ProgramName = PeerName | 'nat-go' | 'nat-rust' | 'public-go' | 'public-rust'

/** Whether a peer that cannot be built is a failure (CI) or skipped (elsewhere) is the caller's decision. */
export type BuildResult =
  { status: 'built' | 'cached', binary: string } |
  { status: 'missing-toolchain', toolchain: string }

interface Recipe {
  /** the folder of its sources */
  sources: string
  toolchain: string
  /** succeeds where the toolchain works: rustup leaves a `cargo` behind that has nothing to run */
  probe: string[]
  /** every argument is part of what decides on a rebuild */
  build: string[]
  /** where the toolchain leaves the binary */
  output: string
}

// the sources are not compiled to dist, this file may be
const SOURCES = join(packageRoot(), 'test', 'lab', 'peers')
const NAT_SOURCES = join(packageRoot(), 'test', 'nat', 'peers')
const PUBLIC_SOURCES = join(packageRoot(), 'test', 'interop', 'public')
const BIN = join(SOURCES, '.bin')
const SOURCE = /\.(go|mod|sum|rs|toml|lock)$/
const EXE = process.platform === 'win32' ? '.exe' : ''

const RECIPES: Record<ProgramName, Recipe> = {
  go: goRecipe(join(SOURCES, 'go'), 'peer'),
  rust: rustRecipe(join(SOURCES, 'rust'), 'interop-peer'),
  'nat-go': goRecipe(join(NAT_SOURCES, 'go'), 'nat-peer'),
  'nat-rust': rustRecipe(join(NAT_SOURCES, 'rust'), 'nat-peer'),
  'public-go': goRecipe(join(PUBLIC_SOURCES, 'go'), 'public-peer'),
  'public-rust': rustRecipe(join(PUBLIC_SOURCES, 'rust'), 'public-peer')
}

function goRecipe (sources: string, name: string): Recipe {
  const output = join(BIN, 'go-build', `${name}${EXE}`)

  return {
    sources,
    toolchain: 'go',
    probe: ['version'],
    // go.sum is binding without a flag; no VCS stamp, because a binary is as old as its sources and not as the last commit
    build: ['build', '-trimpath', '-buildvcs=false', '-o', output, '.'],
    output
  }
}

/** They share a target directory, so that crates which both need are built once */
function rustRecipe (sources: string, name: string): Recipe {
  return {
    sources,
    toolchain: 'cargo',
    probe: ['--version'],
    build: ['build', '--release', '--locked', '--target-dir', join(BIN, 'rust-target')],
    output: join(BIN, 'rust-target', 'release', `${name}${EXE}`)
  }
}

/**
 * Builds one peer unless its sources, its lock file and its recipe are those of the binary that is there. The output
 * of the toolchain goes to stderr.
 *
 * @param name - of the program
 * @param onBuild - is told that a build begins
 * @throws {ExecaError} when the toolchain is there and the build fails
 */
export async function buildPeer (name: ProgramName, onBuild: () => void = () => {}): Promise<BuildResult> {
  const recipe = RECIPES[name]
  const binary = binaryOf(name)
  const stamp = join(BIN, `${name}-peer.sha256`)
  const fingerprint = await hashSources(name)

  if (await isCurrent(binary, stamp, fingerprint)) {
    return { status: 'cached', binary }
  }

  if (!await works(recipe)) {
    return { status: 'missing-toolchain', toolchain: recipe.toolchain }
  }

  onBuild()
  process.stderr.write(`${name}: ${recipe.toolchain} ${recipe.build.join(' ')}\n`)
  await mkdir(BIN, { recursive: true })
  await execa(recipe.toolchain, recipe.build, {
    cwd: recipe.sources,
    stdin: 'ignore',
    stdout: process.stderr,
    stderr: process.stderr
  })

  // renamed into place, because the kernel refuses to write to a binary that runs; the stamp comes last, so that a
  // build cut short is built again
  await copyFile(recipe.output, `${binary}.new`)
  await rename(`${binary}.new`, binary)
  await writeFile(stamp, fingerprint)

  return { status: 'built', binary }
}

/** Where the binary of a peer is once it is built */
export function binaryOf (name: ProgramName): string {
  return join(BIN, `${name}-peer${EXE}`)
}

/** One after the other: either build takes all the cores there are. */
export async function buildPeers (): Promise<Record<PeerName, BuildResult>> {
  return {
    go: await buildPeer('go'),
    rust: await buildPeer('rust')
  }
}

export async function buildNatPeers (): Promise<Record<PeerName, BuildResult>> {
  return {
    go: await buildPeer('nat-go'),
    rust: await buildPeer('nat-rust')
  }
}

export async function buildPublicPeers (): Promise<Record<PeerName, BuildResult>> {
  return {
    go: await buildPeer('public-go'),
    rust: await buildPeer('public-rust')
  }
}

async function works (recipe: Recipe): Promise<boolean> {
  const { failed } = await execa(recipe.toolchain, recipe.probe, { reject: false, stdin: 'ignore' })

  return !failed
}

async function isCurrent (binary: string, stamp: string, fingerprint: string): Promise<boolean> {
  try {
    const [stored] = await Promise.all([readFile(stamp, 'utf8'), access(binary, constants.X_OK)])

    return stored === fingerprint
  } catch {
    return false
  }
}

async function hashSources (name: ProgramName): Promise<string> {
  const cwd = RECIPES[name].sources
  const hash = createHash('sha256').update(JSON.stringify(RECIPES[name].build))
  const files = await readdir(cwd, { recursive: true })

  for (const file of files.filter(name => SOURCE.test(name)).sort()) {
    // the length keeps the end of one file and the beginning of the next apart
    const content = await readFile(join(cwd, file))
    hash.update(`\n${file} ${content.byteLength}\n`).update(content)
  }

  return hash.digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const build of [buildPeers, buildNatPeers]) {
    for (const [name, result] of Object.entries(await build())) {
      const detail = result.status === 'missing-toolchain' ? result.toolchain : result.binary
      process.stdout.write(`${name}: ${result.status} ${detail}\n`)
    }
  }
}
