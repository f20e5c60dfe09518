/** Milliseconds to three figures or so: what is below 10 ms shows its tenths. */
export function ms (milliseconds: number): string {
  if (Number.isNaN(milliseconds)) {
    return '-'
  }

  return milliseconds.toFixed(milliseconds < 9.95 ? 1 : 0)
}

export function times (ratio: number): string {
  return Number.isNaN(ratio) ? '-' : `${ratio.toFixed(2)}x`
}

export function trips (count: number): string {
  return Number.isNaN(count) ? '-' : count.toFixed(1)
}

/** Three digits that count; `-` where there is no number. */
export function short (value: number): string {
  if (!Number.isFinite(value)) {
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

export function duration (milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000)

  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Milliseconds without their fraction: `1,504`. */
export function whole (milliseconds: number): string {
  return Math.round(milliseconds).toLocaleString('en')
}
