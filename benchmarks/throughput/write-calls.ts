import { spawnSync } from 'node:child_process'
import { createReadStream, mkdtempSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'

const CALLS = ['write', 'writev', 'pwrite64', 'sendto', 'sendmsg', 'sendmmsg']

/** Why write calls cannot be counted here, if they cannot. */
export function whyNoTracing (): string | undefined {
  const { error, status } = spawnSync('strace', [...OPTIONS, '-o', '/dev/null', 'true'], { stdio: 'ignore' })

  if (error != null) {
    return 'strace is not installed'
  }

  return status === 0 ? undefined : 'strace must not trace here'
}

// -yy: names what a descriptor is, so that only those of TCP count
const OPTIONS = ['-f', '-qq', '-yy', '-e', 'signal=none', '-e', `trace=${CALLS.join(',')}`]

/** Runs processes under strace and counts the calls that wrote to TCP sockets. */
export class WriteCalls {
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'write-calls-'))
  #files: string[] = []

  /** The command that runs a process. */
  under (name: string): string[] {
    const file = path.join(this.#directory, name)
    this.#files.push(file)

    return ['strace', ...OPTIONS, '-o', file]
  }

  /** The end of what is recorded now. */
  async position (): Promise<number[]> {
    return Promise.all(this.#files.map(async file => (await stat(file)).size))
  }

  /** How many calls were made between two positions, by all processes. */
  async count (from: number[], to: number[]): Promise<number> {
    const counts = await Promise.all(this.#files.map(async (file, index) => from[index] === to[index]
      ? 0
      : countWrites(createInterface(createReadStream(file, { start: from[index], end: to[index] - 1 })))
    ))

    return counts.reduce((sum, count) => sum + count, 0)
  }

  async remove (): Promise<void> {
    // a tracer that is being ended may still open its file
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * Counts calls on TCP sockets. One that another thread interrupted has a second
 * line, which starts with `<...`.
 */
export async function countWrites (lines: AsyncIterable<string> | Iterable<string>): Promise<number> {
  let count = 0

  for await (const line of lines) {
    if (/^(?:\d+ +)?\w+\(\d+<TCP/.test(line)) {
      count++
    }
  }

  return count
}
