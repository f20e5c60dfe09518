import type { Environment } from './environment.ts'
import type { Table } from './table.ts'

/**
 * A table as GitHub renders it.
 */
export function markdownTable ({ columns, rows }: Table): string {
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
  const { command, date, commit, cpu, cores, memory, kernel, node, load } = environment

  return [
    `\`${command}\` on ${date.slice(0, 10)}${commit == null ? '' : ` at ${commit}`}: ${cpu}, ${cores} ${cores === 1 ? 'core' : 'cores'}, ${memory}, ${kernel}, Node ${node}, load ${load.toFixed(1)}.`,
    ...(Object.keys(versions).length === 0 ? [] : [`${versionsText(versions)}.`])
  ].join('\n')
}

/**
 * What was measured, a line each.
 */
export function versionsList (measured: Array<{ title: string, versions: Record<string, string> }>): string {
  return measured.map(({ title, versions }) => `- ${title}: ${versionsText(versions)}`).join('\n')
}

function versionsText (versions: Record<string, string>): string {
  return Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', ')
}

function line (cells: string[]): string {
  return `| ${cells.map(escaped).join(' | ')} |`
}

function escaped (cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
