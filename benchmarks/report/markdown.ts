import type { Environment } from './environment.ts'
import type { Column } from './table.ts'

/**
 * A table as GitHub renders it.
 */
export function markdownTable (columns: Column[], rows: string[][]): string {
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ align }) => align === 'left' ? ':--' : '--:')),
    ...rows.map(line)
  ].join('\n')
}

/**
 * Where, when and how the figures above it were made. Reports are no place for
 * figures without it.
 */
export function provenance (environment: Environment, versions: Record<string, string> = {}): string {
  const { command, date, cpu, cores, memory, kernel, node, load } = environment
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`)

  return [
    `\`${command}\` on ${date.slice(0, 10)}: ${cpu}, ${cores} ${cores === 1 ? 'core' : 'cores'}, ${memory}, ${kernel}, Node ${node}, load ${load.toFixed(1)}.`,
    ...(packages.length === 0 ? [] : [`${packages.join(', ')}.`])
  ].join('\n')
}

function line (cells: string[]): string {
  return `| ${cells.map(escaped).join(' | ')} |`
}

function escaped (cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
