export interface Column {
  title: string

  /**
   * @default 'right'
   */
  align?: 'left' | 'right'
}

/**
 * What a terminal shows by `textTable` and a page by `markdownTable`
 */
export interface Table {
  columns: Column[]
  rows: string[][]
}

const GAP = '  '

/**
 * A table of text: a line of titles, a rule, a line per row.
 */
export function textTable ({ columns, rows }: Table): string {
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...rows.map(row => row[i].length)))

  function line (cells: string[]): string {
    return cells
      .map((cell, i) => columns[i].align === 'left' ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))
      .join(GAP)
      .trimEnd()
  }

  return [
    line(columns.map(({ title }) => title)),
    widths.map(width => '-'.repeat(width)).join(GAP),
    ...rows.map(line)
  ].join('\n')
}
