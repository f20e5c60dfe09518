import { createHash } from 'node:crypto'
import { access, constants, copyFile, mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { say } from '../process/say.ts'
import { packageRoot } from '../script-path.ts'

export type PeerName = 'go' | 'rust'

/** Each is written in both languages, under this name */
export const PROGRAMS = ['interop', 'nat'] as const
export type ProgramName = typeof PROGRAMS[number]

/** Whether a peer that cannot be built is a failure (CI) or skipped (elsewhere) is the caller's decision. */
export type BuildResult =
  { status: 'built' | 'cached' } |
  { status: 'missing-toolchain', toolchain: string }

interface Recipe {
  toolchain: string
  /** succeeds where the toolchain works: rustup leaves a `cargo` behind that has nothing to run */
  probe: string[]
  /** builds all programs in the folder of the language; every argument is part of what decides on a rebuild */
  build: string[]
  /** where the toolchain leaves the binaries, from there */
  output: string
}

// the sources are not compiled to dist, this file may be
const SOURCES = join(packageRoot(), 'test', 'lab', 'peers')
const BIN = join(SOURCES, '.bin')
// relative, so that a checkout that moves or is copied along with its binaries is not built again
const GO_OUTPUT = '../.bin/go-build'
const RUST_OUTPUT = '../.bin/rust-target'
const SOURCE = /\.(go|mod|sum|rs|toml|lock)$/
const EXE = process.platform === 'win32' ? '.exe' : ''

const RECIPES: Record<PeerName, Recipe> = {
  go: {
    toolchain: 'go',
    probe: ['version'],
    // go.sum is binding without a flag; no VCS stamp, because a binary is as old as its sources and not as the last commit
    build: ['build', '-trimpath', '-buildvcs=false', '-o', GO_OUTPUT, './...'],
    output: GO_OUTPUT
  },
  rust: {
    toolchain: 'cargo',
    probe: ['--version'],
    build: ['build', '--release', '--locked', '--target-dir', RUST_OUTPUT],
    output: `${RUST_OUTPUT}/release`
  }
}

/**
 * Builds the programs in one language unless their sources, their lock file and the recipe are those of the binaries that
 * are there. The output of the toolchain goes to stderr.
 *
 * @param name - of the language
 * @param onBuild - is told that a build begins
 * @throws {ExecaError} when the toolchain is there and the build fails
 */
export async function buildPeer (name: PeerName, onBuild: () => void = () => {}): Promise<BuildResult> {
  const { toolchain, probe, build, output } = RECIPES[name]
  const cwd = join(SOURCES, name)
  const stamp = join(BIN, `${name}.sha256`)
  const fingerprint = await hashSources(name)

  if (await isCurrent(name, stamp, fingerprint)) {
    return { status: 'cached' }
  }

  if (!await works(toolchain, probe)) {
    return { status: 'missing-toolchain', toolchain }
  }

  onBuild()
  process.stderr.write(`${name}: ${toolchain} ${build.join(' ')}\n`)
  // a directory makes Go write one binary for each program
  await mkdir(join(cwd, output), { recursive: true })
  await execa(toolchain, build, {
    cwd,
    stdin: 'ignore',
    stdout: process.stderr,
    stderr: process.stderr
  })

  // renamed into place, because the kernel refuses to write to a binary that runs; the stamp comes last, so that a
  // build cut short is built again
  for (const program of PROGRAMS) {
    const binary = binaryOf(name, program)
    await copyFile(join(cwd, output, `${program}${EXE}`), `${binary}.new`)
    await rename(`${binary}.new`, binary)
  }

  await writeFile(stamp, fingerprint)

  return { status: 'built' }
}

/** Where the binary of a program is once it is built */
export function binaryOf (name: PeerName, program: ProgramName = 'interop'): string {
  return join(BIN, `${name}-${program}${EXE}`)
}

/** One after the other: either build takes all the cores there are. */
export async function buildPeers (): Promise<Record<PeerName, BuildResult>> {
  return {
    go: await buildPeer('go'),
    rust: await buildPeer('rust')
  }
}

export type Binaries = Partial<Record<PeerName, string>>

/**
 * Builds the peers, and says where one of their programs is.
 *
 * @throws {Error} in CI, if a toolchain is missing; elsewhere its peer is skipped
 */
export async function buildBinaries (program: ProgramName = 'interop'): Promise<Binaries> {
  const binaries: Binaries = {}

  for (const [name, result] of Object.entries(await buildPeers()) as Array<[PeerName, BuildResult]>) {
    if (result.status !== 'missing-toolchain') {
      binaries[name] = binaryOf(name, program)
    } else if (process.env.CI == null) {
      say(`SKIPPED ${name}: there is no working ${result.toolchain} on this machine`)
    } else {
      throw new Error(`There is no working ${result.toolchain} on this machine, and this is CI`)
    }
  }

  return binaries
}

async function works (toolchain: string, probe: string[]): Promise<boolean> {
  const { failed } = await execa(toolchain, probe, { reject: false, stdin: 'ignore' })

  return !failed
}

async function isCurrent (name: PeerName, stamp: string, fingerprint: string): Promise<boolean> {
  try {
    await Promise.all(PROGRAMS.map(async program => access(binaryOf(name, program), constants.X_OK)))

    return await readFile(stamp, 'utf8') === fingerprint
  } catch {
    return false
  }
}

async function hashSources (name: PeerName): Promise<string> {
  const cwd = join(SOURCES, name)
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
  for (const [name, result] of Object.entries(await buildPeers())) {
    process.stdout.write(`${name}: ${result.status === 'missing-toolchain' ? `there is no working ${result.toolchain}` : result.status}\n`)
  }
}
