/* eslint-disable no-console */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { environment, provenance } from '../lab/report/environment.ts'

/*
 * Runs the measurements of `linux()` and writes RESULTS.md beside this file. Sections that are not asked for stay as they are. Needs
 * root and socat.
 *
 * npm exec -- node test/linux/results.ts
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

await new Command('results')
  .argument('[sections...]', Object.keys(SECTIONS).join(), Object.keys(SECTIONS))
  .action(async (names: string[]) => {
    const measured = new Map<string, string>()

    for (const name of names) {
      measured.set(name, await measure(SECTIONS[name]))
    }

    const old = existsSync(PAGE) ? await readFile(PAGE, 'utf8') : ''
    const sections = Object.entries(SECTIONS).map(([name, { title }]) => measured.get(name) ?? sectionOf(old, title))

    await writeFile(PAGE, `${['# Figures of linux()', 'Written by `npm exec -- node test/linux/results.ts`; do not edit. [docs/linux.md](../../docs/linux.md) says what the options do.', ...sections.filter(Boolean)].join('\n\n')}\n`)
  })
  .parseAsync()

async function measure ({ title, about, script, args }: Section): Promise<string> {
  console.info(title)
  const command = ['npm exec -- node', `test/linux/${script}`, ...args.map(arg => arg.startsWith('{') ? `'${arg}'` : arg)].join(' ')
  const { stdout, exitCode } = await execa(process.execPath, ['--no-warnings', path.join(import.meta.dirname, script), ...args], { reject: false, stderr: 'inherit' })

  if (exitCode !== 0) {
    process.exitCode = 1
  }

  return [`## ${title}`, about, stdout.replace(/^([^|\n].*)\n(?=\|)/, '$1\n\n'), provenance(environment(command))].join('\n\n')
}

/** As it stands on the page */
function sectionOf (page: string, title: string): string {
  const [, text] = page.split(`## ${title}\n`)

  return text == null ? '' : `## ${title}\n${text.split('\n## ')[0]}`.trim()
}
