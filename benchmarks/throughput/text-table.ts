/**
 * Lines of cells that are aligned: the first column to the left, numbers to the right.
 */
export function textTable (lines: string[][]): string {
  const widths = lines[0].map((_, column) => Math.max(...lines.map(line => line[column].length)))

  return lines
    .map(line => line.map((cell, column) => column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])).join('  ').trimEnd())
    .join('\n')
}

/**
 * Three digits that count; `-` where there is no number.
 */
export function short (value?: number): string {
  if (value == null || !Number.isFinite(value)) {
    return '-'
  }

  const size = Math.abs(value)

  if (size >= 1_000) {
    return Math.round(value).toLocaleString('en')
  }

  if (size >= 100) {
    return value.toFixed(0)
  }

  return value.toFixed(size >= 10 ? 1 : 2)
}
