export interface Column {
  title: string

  /**
   * @default 'right'
   */
  align?: 'left' | 'right'
}

export interface Table {
  columns: Column[]
  rows: string[][]
}

/**
 * A table in Markdown, padded so that a terminal shows it well.
 */
export function markdownTable ({ columns, rows }: Table): string {
  const cells = rows.map(row => row.map(cell => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')))
  const widths = columns.map(({ title }, i) => Math.max(3, title.length, ...cells.map(row => row[i].length)))

  function line (cells: string[]): string {
    return `| ${cells.map((cell, i) => columns[i].align === 'left' ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join(' | ')} |`
  }

  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ align }, i) => align === 'left' ? `:${'-'.repeat(widths[i] - 1)}` : `${'-'.repeat(widths[i] - 1)}:`)),
    ...cells.map(line)
  ].join('\n')
}
