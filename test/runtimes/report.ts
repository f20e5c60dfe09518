import { markdownTable } from '../lab/report/table.ts'
import { ENDS, FEATURES } from './features.ts'
import type { Kind } from './kit.ts'
import type { PairResult } from './run-pair.ts'
import type { Runtime } from './runtimes.ts'

export interface PairResults {
  dialer: Runtime
  listener: Runtime
  results: Record<Kind, PairResult>
}

/** What a runtime itself gets wrong, with the title of the feature: nothing of ours can help */
const FAULTS_OF_RUNTIMES: Array<{ runtime: Runtime['name'], as: 'dialer' | 'listener', feature: string, why: string }> = [
  {
    runtime: 'deno',
    as: 'dialer',
    feature: 'the peer sends FIN while 8 MiB wait to be sent: all arrives',
    why: 'once the peer has sent FIN, Deno 2.9 fails writes with EPIPE that do not fit into the kernel\'s buffer, in plain `node:net` too (`deno run -A test/runtimes/deno-half-close.ts`). The connection ends with that error. Let the peer keep its side open until it has read everything'
  }
]

/** The page in Markdown */
export function report (pairs: PairResults[], provenance: string): string {
  return [
    '# Runtimes',
    'Features of a TCP transport, on Node, Bun and Deno. Written by `npm run test:runtimes`; do not edit.',
    provenance,
    'Each column is a pair of processes. Ours has both decorators where it has encrypter and muxer. On Bun, Noise has `pureJsCrypto` with both transports.',
    table('Ours', 'ours', pairs),
    reasons('ours', pairs),
    runtimeFaults(),
    table('`@libp2p/tcp`', 'official', pairs),
    reasons('official', pairs),
    '## Notes',
    [
      `- "${ENDS}" is about a transport. libp2p's own timers keep a Deno process alive after \`node.stop()\`, with either transport: call \`Deno.exit()\`.`,
      '- A feature is tried once, and once more where it fails.'
    ].join('\n')
  ].filter(part => part !== '').join('\n\n') + '\n'
}

export function isRuntimeFault ({ dialer, listener }: PairResults, title: string): boolean {
  return FAULTS_OF_RUNTIMES.some(fault => fault.feature === title && (fault.as === 'dialer' ? dialer : listener).name === fault.runtime)
}

function table (title: string, kind: Kind, pairs: PairResults[]): string {
  return [
    `## ${title}`,
    markdownTable({
      columns: [{ title: 'feature', align: 'left' }, ...pairs.map(pair => ({ title: titleOf(pair) }))],
      rows: [
        ...FEATURES.map(({ title }, i) => [title, ...pairs.map(pair => cell(pair, title, pair.results[kind][i]))]),
        ['**works**', ...pairs.map(pair => `**${pair.results[kind].filter(error => error == null).length} of ${FEATURES.length}**`)]
      ]
    })
  ].join('\n\n')
}

function cell (pair: PairResults, title: string, error?: string): string {
  if (error == null) {
    return 'yes'
  }

  return isRuntimeFault(pair, title) ? 'no (runtime)' : 'no'
}

function reasons (kind: Kind, pairs: PairResults[]): string {
  const lines = pairs.flatMap(pair => pair.results[kind].flatMap((error, i) => error == null ? [] : [`- ${titleOf(pair)}: ${FEATURES[i].title}: ${error.split('\n')[0].slice(0, 200)}`]))

  return lines.length === 0 ? '' : `<details><summary>What failed, and how</summary>\n\n${lines.join('\n')}\n\n</details>`
}

function runtimeFaults (): string {
  return FAULTS_OF_RUNTIMES.map(({ runtime, as, feature, why }) => `*no (runtime)*: ${runtime} as ${as}, "${feature}": ${why}.`).join('\n\n')
}

function titleOf ({ dialer, listener }: PairResults): string {
  return dialer.name === listener.name ? dialer.title : `${dialer.title} to ${listener.title}`
}
