/**
 * Bytes per segment: `1 + 9`, `10 × 1`.
 */
export function sizesText (sizes: number[]): string {
  return sizes.length > 2 && sizes.every(size => size === sizes[0]) ? `${sizes.length} × ${sizes[0]}` : sizes.join(' + ')
}

export function bytesText (sizes: number[]): string {
  return `${sizesText(sizes)} ${sizes.every(size => size === 1) ? 'byte' : 'bytes'}`
}

/**
 * Milliseconds without their fraction: `1,504`.
 */
export function whole (milliseconds: number): string {
  return Math.round(milliseconds).toLocaleString('en-US')
}

export function plural (count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function runsText (runs: number): string {
  return runs === 1 ? 'one run of each case' : `medians of ${runs} runs of each case`
}
