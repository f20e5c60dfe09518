/* eslint-disable no-console */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command, Option } from 'commander'
import { RESULTS, packageRoot } from '../script-path.ts'

export const readmeCommand = new Command('readme')
  .description('writes the figures of README again, from the JSON files of the results')
  .addOption(new Option('--results <directory>', 'where the JSON files are').default(RESULTS, 'benchmarks/results'))
  .addOption(new Option('--file <file>', 'where the block between the markers is replaced').default(path.join(packageRoot(), 'README.md'), 'README.md'))
  .action(async ({ results, file }: { results: string, file: string }) => {
    const [{ readmeBlock, replaceBlock }, { readReports }] = await Promise.all([
      import('./block.ts'),
      import('./reports.ts')
    ])
    const block = readmeBlock(await readReports(results))

    await writeFile(file, replaceBlock(await readFile(file, 'utf8'), block))
    console.log(`Written: ${path.relative(process.cwd(), file)}`)
  })
