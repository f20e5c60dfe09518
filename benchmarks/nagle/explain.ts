import { noiseWarnings } from '../report/noise.ts'
import { trips } from '../report/numbers.ts'
import { STACK_TITLES } from './cases.ts'
import { findings } from './findings.ts'
import { bytesText, plural, sizesText, whole } from './wording.ts'
import type { NagleCase, Pace, StackName } from './cases.ts'
import type { CaseFindings } from './findings.ts'
import type { NagleReport } from './report.ts'
import type { NagleLink } from './run.ts'
import type { Measured } from '../report/noise.ts'

type Find = (stack: StackName, noDelay: boolean, pace?: Pace) => CaseFindings

/**
 * The sentences that explain a table, each only where it is true of what was
 * measured.
 */
export function explain (link: NagleLink, { cases, messages }: Pick<NagleReport, 'cases' | 'messages'>): string[] {
  const all = findings(link, cases)
  const find = finder(all)

  return [
    withNagle(find, link, messages),
    withoutNagle(find),
    // who has Nagle's algorithm is not to be seen where it holds nothing back
    ...(heldBack(find, link, messages) == null ? [] : official(find)),
    inOneTick(find, messages)
  ]
}

/**
 * How many round trips after the first message the last one arrives with Nagle's
 * algorithm. Undefined where it held nothing back.
 */
export function tripsHeldBack (link: NagleLink, { cases, messages }: Pick<NagleReport, 'cases' | 'messages'>): number | undefined {
  return heldBack(finder(findings(link, cases)), link, messages)
}

function finder (all: CaseFindings[]): Find {
  return (stack, noDelay, pace = 'spaced') => all.find(({ case: of }) => of.stack === stack && of.noDelay === noDelay && of.pace === pace) as CaseFindings
}

function heldBack (find: Find, { roundTrip }: NagleLink, messages: number): number | undefined {
  const { sizes, first, last } = find('ours', false)

  return sizes.length === messages ? undefined : (last.median - first.median) / roundTrip
}

function withNagle (find: Find, link: NagleLink, messages: number): string {
  const { sizes, first, last } = find('ours', false)
  const later = heldBack(find, link, messages)

  if (later == null) {
    return 'Nagle\'s algorithm held nothing back here: each ACK was there before the next write.'
  }

  return `With Nagle's algorithm the first ${sizes[0] === 1 ? 'byte' : `${sizes[0]} bytes`} left alone and arrived after ${whole(first.median)} ms; the rest waited for its ACK and were all there after ${whole(last.median)} ms, ${trips(later)} round trips later, in ${plural(sizes.length - 1, 'segment')} of ${bytesText(sizes.slice(1))}.`
}

function withoutNagle (find: Find): string {
  const { sizes, first, last } = find('ours', true)

  return `With TCP_NODELAY each write left at once, in ${plural(sizes.length, 'segment')}: they arrived between ${whole(first.median)} and ${whole(last.median)} ms.`
}

function official (find: Find): string[] {
  return find('official', false).sizes.length === find('official', true).sizes.length
    ? ['@libp2p/tcp sets TCP_NODELAY even where `dialOpts.noDelay` is false: Nagle\'s algorithm is off there in every node, so it is not what made js-libp2p slower (issue #3029).']
    : []
}

function inOneTick (find: Find, messages: number): string {
  const others = (['official', 'net'] as const)
    .map(stack => `those of ${STACK_TITLES[stack]} as ${plural(find(stack, true, 'tick').sizes.length, 'segment')}`)
    .join(' and ')
  const { sizes } = find('ours', true, 'tick')

  return `${messages} sends in one tick of ours left as ${plural(sizes.length, 'segment')} of ${bytesText(sizes)}, ${others}.`
}

/**
 * What to doubt in these figures.
 */
export function doubts (link: NagleLink, cases: NagleCase[]): string[] {
  const all = findings(link, cases)
  const last = (id: string): Measured[] => all
    .filter(({ case: of }) => of.id === id)
    .map(({ last }) => ({ name: `${id} (last byte)`, summary: last }))

  return [
    ...last('net-nodelay').flatMap(reference => noiseWarnings(reference, [...last('official-nodelay'), ...last('ours-nodelay')])),
    ...all
      .filter(({ agreeing, runs }) => agreeing < runs)
      .map(({ case: { id }, agreeing, runs, sizes }) => `${id} was cut into segments of ${sizesText(sizes)} in ${agreeing} of ${runs} runs, the others differ.`),
    ...all
      .filter(({ retransmissions }) => retransmissions > 0)
      .map(({ case: { id }, retransmissions }) => `${id} had ${plural(retransmissions, 'retransmission')}, which the segments leave out.`)
  ]
}
