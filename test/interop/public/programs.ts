import path from 'node:path'
import { execa } from 'execa'
import { binaryOf } from '../../lab/peers/build.ts'

export type Test = 'transport' | 'perf' | 'hole-punch'
export type PeerName = 'ours' | 'official' | 'go' | 'rust'

/** What the programs are told, and at which end of a link or lab they run */
export interface RunInit {
  test: Test
  redis: string
  env: Record<string, string>
  signal: AbortSignal

  /** The command line that runs this command line there */
  under?(place: string, command: string[]): string[]
}

let tests = 0

/**
 * Runs the listener and whoever else is there, then the dialer, as docker compose does it: what the dialer prints is the
 * result, and the others are ended when it ends.
 *
 * @returns by `section.name`: what the dialer prints
 * @throws {Error} if the dialer fails
 */
export async function runTest (dialer: PeerName, others: Array<{ place: string, peer: PeerName, env: Record<string, string> }>, { test, redis, env, signal, under = (place, command) => command }: RunInit): Promise<Record<string, string>> {
  const common = { ...env, TRANSPORT: 'tcp', MUXER: 'yamux', REDIS_ADDR: redis, TEST_KEY: `${process.pid}`.padEnd(4, '-') + `${tests++}`, TEST_TIMEOUT_SECS: '30' }
  const start = (peer: PeerName, place: string, env: Record<string, string>): ReturnType<typeof execa> => {
    const [file, ...args] = under(place, commandOf(peer, test))

    return execa(file, args, { env: { ...common, STACK: peer, ...env }, reject: false, timeout: 60_000, cancelSignal: signal })
  }
  const started = others.map(({ peer, place, env }) => start(peer, place, { IS_DIALER: 'false', ...env }))

  try {
    const { failed, shortMessage, stdout, stderr } = await start(dialer, 'dialer', { IS_DIALER: 'true' })

    if (failed) {
      throw new Error(`${shortMessage}\n${stderr as string}`)
    }

    return parse(stdout as string)
  } finally {
    started.forEach(other => { other.kill() })
    await Promise.all(started)
  }
}

function commandOf (peer: PeerName, test: Test): string[] {
  if (peer === 'ours' || peer === 'official') {
    return [process.execPath, '--no-warnings', path.join(import.meta.dirname, `${test}.ts`)]
  }

  if (test === 'perf') {
    throw new Error(`There is no program for perf in ${peer}`)
  }

  return [binaryOf(peer, `public-${test}`)]
}

/** Sections and their names: as much of YAML as the tests print */
function parse (yaml: string): Record<string, string> {
  const values: Record<string, string> = {}
  let section = ''

  for (const line of yaml.split('\n')) {
    const [, indent, name, value] = line.match(/^( *)(\w+): ?(.*)$/) ?? []

    if (indent === '') {
      section = name
    } else if (name != null) {
      values[`${section}.${name}`] = value
    }
  }

  return values
}
