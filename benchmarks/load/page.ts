import { NAMES } from '../../test/lab/peers/names.ts'
import { short, whole } from '../../test/lab/report/numbers.ts'
import { markdownTable, tableOf } from '../../test/lab/report/table.ts'
import { jain, median, percentile, sum } from '../../test/lab/statistics.ts'
import { latencyChart } from './chart.ts'
import { EARLY } from './report.ts'
import { ratioOf, throughputOf, verdictsOf } from './verdicts.ts'
import type { LoadReport, LoadRow, TransferRow } from './report.ts'
import type { Results } from '../report/results.ts'

export function loadPage (report: LoadReport): Results<LoadReport> {
  const { link, rows, slowReaders, transfers } = report

  return {
    report,
    title: 'A busy line',
    about: `${link}, with a rate and a drop-tail queue in each direction. Streams upload 64 KiB messages as fast as they may. Beside them a stream that was opened before echoes 100 B every 100 ms, a new stream does so every second, and libp2p's timeouts, ping and connection monitor are at their defaults at both ends. Times are in ms. Where the relay was late (\`~\`), the machine had too much else to do, and the row says little.`,
    sections: [
      ...rows.length > 0 ? linesOf(report) : [],
      ...slowReaders.length > 0 ? [slowReadersOf(report)] : [],
      ...transfers.length > 0 ? [transfersOf(report)] : []
    ],
    charts: rows.some(({ waits }) => waits != null) ? { load: latencyChart(report) } : {}
  }
}

type Section = Results['sections'][number]

/** In ms; more is no link of this rate */
const MOST_LATE = 10

function linesOf (report: LoadReport): Section[] {
  const { rows } = report
  const rates = [...new Set(rows.map(({ rate }) => rate))].toSorted((a, b) => a - b)
  const causes = causesOf(rows)

  return [{
    title: 'From 2 Mbit/s up',
    text: `A new stream fails if it is not open and has not echoed within 10 s, as libp2p has it by default. Throughput is that of the first ${EARLY / 1_000} s, or of as long as the connection lived, as a part of official's on the same line.`,
    table: markdownTable(tableOf(verdictsOf(report).toSorted((a, b) => b.congestion.localeCompare(a.congestion)), [
      ['congestion control', ({ congestion }) => congestion, 'left'],
      ['uploader', ({ dialer }) => NAMES[dialer], 'left'],
      ['receiver', ({ listener }) => NAMES[listener], 'left'],
      ['lines', ({ lines }) => `${lines}`],
      ['connections that lived', ({ lived }) => `${lived}`],
      ['new streams', ({ begun }) => whole(begun)],
      ['of which failed', ({ failed }) => `${failed}`],
      ['new stream / echo, at most', ({ ratio }) => short(ratio)],
      ['fairness of four, at least', ({ fairness }) => fairness?.toFixed(3) ?? '-'],
      ['throughput, least', ({ throughput }) => throughput?.least.toFixed(2) ?? '-'],
      ['median', ({ throughput }) => throughput?.median.toFixed(2) ?? '-']
    ]))
  },
  ...rates.map(rate => ({ title: `${rate} Mbit/s`, table: lineTable(rows.filter(row => row.rate === rate)) })),
  ...causes === '' ? [] : [{ title: 'What ended connections, by uploader', text: causes }]]
}

function lineTable (rows: LoadRow[]): string {
  return markdownTable(tableOf(rows, [
    ['round trip', ({ roundTrip }) => `${roundTrip}`],
    ['queue, KiB', ({ queue }) => whole(queue / 1024)],
    ['congestion', ({ congestion }) => congestion, 'left'],
    ['uploads', ({ uploads }) => `${uploads}`],
    ['uploader', ({ dialer }) => NAMES[dialer], 'left'],
    ['receiver', ({ listener }) => NAMES[listener], 'left'],
    ['lived, s', ({ lived, error }) => error == null ? `${Math.round(lived / 1000)}` : `**dead at ${(lived / 1000).toFixed(1)}**`],
    ['idle echo', ({ idle }) => whole(idle)],
    ['echo, p50', ({ echo }) => ms(echo.p50)],
    ['p95', ({ echo }) => ms(echo.p95)],
    ['new stream, p50', ({ stream }) => ms(stream.p50)],
    ['longest', ({ stream }) => ms(stream.max)],
    ['failed', ({ stream }) => `${stream.failed} of ${stream.begun}`],
    ['/ echo', row => short(ratioOf(row))],
    ['Mbit/s', ({ arrived, lived }) => short(sum(arrived.uploads) * 8 / 1_000 / lived)],
    ['/ official', row => throughputOf(row, rows)?.toFixed(2) ?? '-'],
    ['fairness', ({ arrived }) => arrived.uploads.length < 2 ? '-' : jain(arrived.uploads).toFixed(3)],
    ['link\'s queue, p50', ({ queued }) => ms(queued[0])],
    ['relay late, p95', ({ late }) => `${late[1] > MOST_LATE ? '~' : ''}${ms(late[1])}`],
    ['memory, MiB', ({ rss }) => rss > 0 ? whole(rss / 2 ** 20) : '-']
  ]))
}

function ms (time?: number | null): string {
  return time == null || Number.isNaN(time) ? 'never' : whole(time)
}

function causesOf (rows: LoadRow[]): string {
  const causes = new Map<string, number>()

  for (const { error, dialer } of rows) {
    if (error != null) {
      const cause = `${NAMES[dialer]}: ${error}`
      causes.set(cause, (causes.get(cause) ?? 0) + 1)
    }
  }

  return [...causes].map(([cause, count]) => `- ${cause} (${count} times)`).join('\n')
}

function slowReadersOf ({ slowReaders }: LoadReport): Section {
  return {
    title: 'A slow reader',
    text: 'A handler reads with `for await` and takes 20 ms for each 64 KiB, so 3 MiB/s. A sender has 256 MiB for it, over loopback, and waits for `onDrain()` whenever `send` returns `false`. Memory is what the process takes (RSS), in MiB.',
    table: markdownTable(tableOf(slowReaders, [
      ['transport', ({ stack }) => NAMES[stack], 'left'],
      ['sender, at first', ({ samples }) => whole(samples[0].sender)],
      ['at most', ({ samples }) => whole(Math.max(...samples.map(({ sender }) => sender)))],
      ['receiver, at first', ({ samples }) => whole(samples[0].receiver)],
      ['at most', ({ samples }) => whole(Math.max(...samples.map(({ receiver }) => receiver)))],
      ['sent', ({ sent }) => whole(sent)],
      ['read', ({ read }) => whole(read)],
      ['ended by', ({ error }) => error ?? '-', 'left']
    ]))
  }
}

function transfersOf ({ transfers }: LoadReport): Section {
  return {
    title: 'A long line without a rate',
    text: 'A node sends 64 MiB on a new connection over a round trip of 80 ms, each pair in turn. Over a relay link TCP of the kernel starts slowly, and the relay carries 16 MiB/s or so. Over a proxy link TCP is fast from the first byte, and only the windows of the muxer are in the way. The last column compares with the same pair without credit or send window. Times are in ms.',
    table: markdownTable(tableOf(transfers, [
      ['link', ({ link }) => link, 'left'],
      ['sender', ({ sender }) => NAMES[sender], 'left'],
      ['receiver', ({ receiver }) => NAMES[receiver], 'left'],
      ['transfers', ({ took }) => `${took.length}`],
      ['median', ({ took }) => whole(median(took))],
      ['p10-p90', ({ took }) => `${whole(percentile(took, 10))}-${whole(percentile(took, 90))}`],
      ['throughput / without', row => without(row, transfers)]
    ]))
  }
}

/** By sender and receiver: the same pair without what makes it ours */
const WITHOUT: Record<string, string> = {
  'official ours': 'official official',
  'ours official': 'no-window official'
}

/** Throughput in comparison with that */
function without ({ link, sender, receiver, took }: TransferRow, transfers: TransferRow[]): string {
  const baseline = WITHOUT[`${sender} ${receiver}`]
  const found = transfers.find(row => row.link === link && `${row.sender} ${row.receiver}` === baseline)

  return found == null ? '-' : (median(found.took) / median(took)).toFixed(2)
}
