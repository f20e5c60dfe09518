/* eslint-disable no-console */
/*
 * Tries features of our transport and of `@libp2p/tcp` on Node, Bun and Deno, and
 * writes RESULTS.md beside this file. Exit code 1 if one fails on ours that is no fault of
 * the runtime.
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import process from 'node:process'
import { Command } from 'commander'
import { listOf, oneOf } from '../lab/arguments.ts'
import { environment, provenance, rememberCommit } from '../lab/report/environment.ts'
import { FEATURES } from './features.ts'
import { isRuntimeFault, report } from './report.ts'
import { runPair } from './run-pair.ts'
import { PAIRS, RUNTIMES, runtime } from './runtimes.ts'
import type { Kind } from './kit.ts'
import type { PairResults } from './report.ts'
import type { PairResult } from './run-pair.ts'
import type { Runtime, RuntimeName } from './runtimes.ts'

const PAGE = path.resolve(import.meta.dirname, 'RESULTS.md')
const KINDS: Kind[] = ['ours', 'official']

interface Flags {
  only: RuntimeName[]
  kinds: Kind[]
}

await new Command('test:runtimes')
  .option('--only <runtimes>', RUNTIMES.join(), listOf(oneOf(RUNTIMES)), RUNTIMES)
  .option('--kinds <transports>', KINDS.join(), listOf(oneOf(KINDS)), KINDS)
  .action(main)
  .parseAsync()

process.exit()

async function main ({ only, kinds }: Flags): Promise<void> {
  rememberCommit()

  const runtimes = new Map<RuntimeName, Runtime>()
  const pairs: PairResults[] = []

  for (const name of only) {
    runtimes.set(name, await runtime(name))
  }

  for (const [from, to] of PAIRS) {
    const [dialer, listener] = [runtimes.get(from), runtimes.get(to)]

    if (dialer == null || listener == null) {
      continue
    }

    const results: Record<Kind, PairResult> = { ours: [], official: [] }

    for (const kind of kinds) {
      results[kind] = await tryTwice(kind, dialer, listener)
      console.info('%s to %s, %s: %d of %d', dialer.title, listener.title, kind, results[kind].filter(error => error == null).length, FEATURES.length)
    }

    pairs.push({ dialer, listener, results })
  }

  const page = report(pairs, provenance(environment('npm run test:runtimes')))

  if (only.length === RUNTIMES.length && kinds.length === KINDS.length) {
    await writeFile(PAGE, page)
  } else {
    console.info('\n%s', page)
  }

  const failures = pairs.flatMap(pair => pair.results.ours.flatMap((error, i) => error == null || isRuntimeFault(pair, FEATURES[i].title) ? [] : [`${pair.dialer.title} to ${pair.listener.title}: ${FEATURES[i].title}: ${error}`]))

  for (const failure of failures) {
    console.error(failure)
  }

  process.exitCode = failures.length === 0 ? 0 : 1
}

/** A machine under load may be too slow for a time limit once */
async function tryTwice (kind: Kind, dialer: Runtime, listener: Runtime): Promise<PairResult> {
  const first = await runPair(kind, dialer, listener)

  if (first.every(error => error == null)) {
    return first
  }

  const second = await runPair(kind, dialer, listener)

  return first.map((error, i) => error == null ? undefined : second[i])
}
