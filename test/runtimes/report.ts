import { page, paragraphs, section } from '../lab/report/page.ts'
import { ENDS } from './features.ts'
import type { Kind } from './kit.ts'
import type { PairResult } from './run-pair.ts'
import type { RuntimeName } from './runtimes.ts'
import type { Environment } from '../lab/report/environment.ts'

export interface PairResults {
  dialer: RuntimeName
  listener: RuntimeName
  results: Record<Kind, PairResult>
}

export interface Results {
  environment: Environment

  /** Names and versions */
  runtimes: Partial<Record<RuntimeName, string>>

  /** Titles, in the order in which each pair tried them */
  features: string[]
  pairs: PairResults[]
}

/** What a runtime itself gets wrong, with the title of the feature: nothing of ours can help */
const FAULTS_OF_RUNTIMES: Array<{ runtime: RuntimeName, as: 'dialer' | 'listener', feature: string, why: string }> = [
  {
    runtime: 'deno',
    as: 'dialer',
    feature: 'the peer sends FIN while 8 MiB wait to be sent: all arrives',
    why: 'once the peer has sent FIN, Deno 2.9 fails writes with EPIPE that do not fit into the kernel\'s buffer, in plain `node:net` too (`deno run -A test/runtimes/deno-half-close.ts`). The connection ends with that error. Let the peer keep its side open until it has read everything'
  }
]

/** The page in Markdown */
export function report (results: Results): string {
  return page({
    title: 'Runtimes',
    about: 'Features of a TCP transport, on Node, Bun and Deno. Written by `npm run test:runtimes`; do not edit.',
    environment: results.environment,
    parts: [
      'Each column is a pair of processes. Ours has both decorators where it has encrypter and muxer. On Bun, Noise has `pureJsCrypto` with both transports.',
      table('Ours', 'ours', results),
      reasons('ours', results),
      FAULTS_OF_RUNTIMES.map(({ runtime, as, feature, why }) => `*no (runtime)*: ${runtime} as ${as}, "${feature}": ${why}.`).join('\n\n'),
      table('`@libp2p/tcp`', 'official', results),
      reasons('official', results),
      '## Notes',
      [
        `- "${ENDS}" is about a transport. libp2p's own timers keep a Deno process alive after \`node.stop()\`, with either transport: call \`Deno.exit()\`.`,
        '- A feature is tried once, and once more where it fails.'
      ].join('\n')
    ]
  })
}

/** What fails on ours and is no fault of the runtime */
export function failuresOf (results: Results): string[] {
  return failed('ours', results).filter(({ pair, feature }) => !isRuntimeFault(pair, feature)).map(({ pair, feature, error }) => `${titleOf(pair, results)}: ${feature}: ${error}`)
}

function failed (kind: Kind, { features, pairs }: Results): Array<{ pair: PairResults, feature: string, error: string }> {
  return pairs.flatMap(pair => pair.results[kind].flatMap((error, i) => error == null ? [] : [{ pair, feature: features[i], error }]))
}

function isRuntimeFault ({ dialer, listener }: PairResults, title: string): boolean {
  return FAULTS_OF_RUNTIMES.some(fault => fault.feature === title && (fault.as === 'dialer' ? dialer : listener) === fault.runtime)
}

function table (title: string, kind: Kind, results: Results): string {
  const { features, pairs } = results

  return section(title, '', {
    columns: [{ title: 'feature', align: 'left' }, ...pairs.map(pair => ({ title: titleOf(pair, results) }))],
    rows: [
      ...features.map((feature, i) => [feature, ...pairs.map(pair => cell(pair, feature, pair.results[kind][i]))]),
      ['**works**', ...pairs.map(pair => `**${pair.results[kind].filter(error => error == null).length} of ${features.length}**`)]
    ]
  })
}

function cell (pair: PairResults, title: string, error?: string): string {
  if (error == null) {
    return 'yes'
  }

  return isRuntimeFault(pair, title) ? 'no (runtime)' : 'no'
}

function reasons (kind: Kind, results: Results): string {
  const lines = failed(kind, results).map(({ pair, feature, error }) => `- ${titleOf(pair, results)}: ${feature}: ${error.split('\n')[0].slice(0, 200)}`)

  return lines.length === 0 ? '' : paragraphs('<details><summary>What failed, and how</summary>', lines.join('\n'), '</details>')
}

function titleOf ({ dialer, listener }: PairResults, { runtimes }: Results): string {
  return dialer === listener ? `${runtimes[dialer]}` : `${runtimes[dialer]} to ${runtimes[listener]}`
}
