/**
 * Where the ticks of a logarithmic axis are: multiples of its powers of ten, the
 * more of them the less the axis spans.
 */
const MANTISSAS = [
  { above: 500, of: [1] },
  { above: 15, of: [1, 2, 5] },
  { above: 3.5, of: [1, 1.5, 2, 3, 5, 7] },
  { above: 0, of: [1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8] }
]

export function logTicks ([least, most]: [number, number]): number[] {
  const mantissas = MANTISSAS.find(({ above }) => most / least > above)?.of ?? []
  const first = Math.floor(Math.log10(least))
  const last = Math.ceil(Math.log10(most))

  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    .flatMap(power => mantissas.map(mantissa => mantissa * 10 ** power))
    .filter(tick => tick >= least && tick <= most)
}

/** From the least to the most of what is positive, with some room. */
export function logDomain (values: number[], room: number): [number, number] {
  const positive = values.filter(value => value > 0)

  return [Math.min(...positive) / room, Math.max(...positive) * room]
}
