export interface Column {
  title: string

  /** @default 'right' */
  align?: 'left' | 'right'
}

export interface Table {
  columns: Column[]
  rows: string[][]
}

/** How a column is headed, what it says of an item, and whether that is text */
export type ColumnOf<T> = [title: string, cell: (item: T) => string, align?: 'left']

/** A line per item */
export function tableOf<T> (items: T[], columns: Array<ColumnOf<T>>): Table {
  return {
    columns: columns.map(([title,, align]) => ({ title, align })),
    rows: items.map(item => columns.map(([, cell]) => cell(item)))
  }
}

/** A table in Markdown, padded so that a terminal shows it well. */
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
