import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { environment, provenance } from '../lab/report/environment.ts'
import { paragraphs } from '../lab/report/page.ts'
import { choose, withChoice } from '../lab/suite/choose.ts'
import { failedCells } from '../lab/suite/run-cells.ts'
import { runSuite } from '../lab/suite/run-suite.ts'
import type { Choice } from '../lab/suite/choose.ts'

/*
 * Runs the measurements of `linux()` and writes RESULTS.md beside this file. Sections that are not asked for stay as they are. Needs
 * root and socat.
 */

const PAGE = path.join(import.meta.dirname, 'RESULTS.md')

interface Section {
  title: string
  about: string
  script: string
  args: string[]
}

const SECTIONS: Record<string, Section> = {
  trips: {
    title: 'Round trips of a dial',
    about: 'Until the first echoed byte, or until identify is done. The first dial fetches the cookie. The median is of those after it, in ms.',
    script: 'trips.ts',
    args: ['--runs', '10']
  },
  loss: {
    title: 'Loss of 1 %',
    about: 'One stream uploads over 82 ms. The dialer\'s and the listener\'s options are the same.',
    script: 'bulk.ts',
    args: ['--delay', '41', '--loss', '1', '--rounds', '1', '--seconds', '12', 'official', 'without', '{"congestion":"bbr"}', '{"congestion":"cubic"}', '{"congestion":"reno"}']
  },
  vanished: {
    title: 'A peer that vanishes',
    about: 'From one moment on the line loses all packets, while a node sends. libp2p\'s connection monitor is off.',
    script: 'vanished.ts',
    args: []
  }
}

await runSuite(withChoice(new Command('test:linux')), async (flags: Choice, suite) => {
  const measured: Record<string, string> = {}
  const cells = Object.entries(SECTIONS).map(([name, { title, about, script, args }]) => ({
    name,
    async run () {
      const command = ['npm exec -- node', `test/linux/${script}`, ...args.map(arg => arg.startsWith('{') ? `'${arg}'` : arg)].join(' ')
      const { stdout, exitCode, shortMessage = '' } = await execa(process.execPath, ['--no-warnings', path.join(import.meta.dirname, script), ...args], { reject: false, stderr: 'inherit', cancelSignal: suite.signal })

      measured[title] = paragraphs(`## ${title}`, about, stdout.replace(/^([^|\n].*)\n(?=\|)/, '$1\n\n'), provenance(environment(command)))

      return { summary: title, complaints: exitCode === 0 ? [] : [shortMessage, ...stdout.split('\n').filter(line => line.includes('EXCEEDED'))] }
    }
  }))
  const failed = await failedCells(choose(cells, ({ name }) => name, flags), suite)
  const old = await readFile(PAGE, 'utf8').catch(() => '')

  await writeFile(PAGE, `${paragraphs(
    '# Figures of linux()',
    'Written by `npm run test:linux`; do not edit. [docs/linux.md](../../docs/linux.md) says what the options do.',
    ...Object.values(SECTIONS).map(({ title }) => measured[title] ?? sectionOf(old, title))
  )}\n`)

  return failed
})

/** As it stands on the page */
function sectionOf (page: string, title: string): string {
  const [, text] = page.split(`## ${title}\n`)

  return text == null ? '' : `## ${title}\n${text.split('\n## ')[0]}`.trim()
}
