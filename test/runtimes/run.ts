/*
 * Tries features of our transport and of `@libp2p/tcp` on Node, Bun and Deno, and
 * writes RESULTS.md beside this file. Exit code 1 if one fails on ours that is no fault of
 * the runtime.
 */
import { Command } from 'commander'
import { listOf, oneOf } from '../lab/arguments.ts'
import { environment } from '../lab/report/environment.ts'
import { writeReport } from '../lab/report/page.ts'
import { runCells } from '../lab/suite/run-cells.ts'
import { runSuite } from '../lab/suite/run-suite.ts'
import { FEATURES } from './features.ts'
import { failuresOf, report } from './report.ts'
import { runPair } from './run-pair.ts'
import { PAIRS, RUNTIMES, runtime } from './runtimes.ts'
import type { Kind } from './kit.ts'
import type { PairResults, Results } from './report.ts'
import type { PairResult } from './run-pair.ts'
import type { Runtime, RuntimeName } from './runtimes.ts'
import type { SuiteContext } from '../lab/suite/run-suite.ts'

const KINDS: Kind[] = ['ours', 'official']

interface Flags {
  only: RuntimeName[]
  kinds: Kind[]
}

await runSuite(new Command('test:runtimes')
  .option('--only <runtimes>', RUNTIMES.join(), listOf(oneOf(RUNTIMES)), RUNTIMES)
  .option('--kinds <transports>', KINDS.join(), listOf(oneOf(KINDS)), KINDS), main)

async function main ({ only, kinds }: Flags, { signal, command, again }: SuiteContext): Promise<string[]> {
  const runtimes = {} as Record<RuntimeName, Runtime>

  for (const name of only) {
    runtimes[name] = await runtime(name)
  }

  const titles = Object.fromEntries(Object.entries(runtimes).map(([name, { title }]) => [name, title]))
  const pairs = PAIRS.filter(names => names.every(name => only.includes(name))).map(([dialer, listener]): PairResults => ({ dialer, listener, results: { ours: [], official: [] } }))

  await runCells(pairs.flatMap(({ dialer, listener, results }) => kinds.map(kind => ({
    name: `${titles[dialer]} to ${titles[listener]}, ${kind}`,
    again: again({ only: [...new Set([dialer, listener])], kinds: kind }),
    run: async () => {
      results[kind] = await tryTwice(async () => runPair(kind, runtimes[dialer].command, runtimes[listener].command, signal))

      return results[kind]
    }
  }))), signal, errors => ({
    summary: `${errors.filter(error => error == null).length} of ${FEATURES.length}`,
    complaints: errors.flatMap((error, i) => error == null ? [] : [`${FEATURES[i].title}: ${error}`])
  }))

  const results: Results = { environment: environment(command), runtimes: titles, features: FEATURES.map(({ title }) => title), pairs }

  if (only.length === RUNTIMES.length && kinds.length === KINDS.length) {
    await writeReport(import.meta.dirname, results, report)
  } else {
    process.stdout.write(report(results))
  }

  return failuresOf(results)
}

/** A machine under load may be too slow for a time limit once */
async function tryTwice (run: () => Promise<PairResult>): Promise<PairResult> {
  const first = await run()

  if (first.every(error => error == null)) {
    return first
  }

  const second = await run()

  return first.map((error, i) => error == null ? undefined : second[i])
}
