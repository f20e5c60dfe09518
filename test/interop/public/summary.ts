/** As unified-testing wants it: quartiles, and apart from them what is further than 1.5 times their distance away */
export function summary (values: number[], digits: number): string {
  const sorted = values.toSorted((a, b) => a - b)
  const [q1, median, q3] = [0.25, 0.5, 0.75].map(part => quantile(sorted, part))
  const fence = 1.5 * (q3 - q1)
  const [inside, outliers] = [true, false].map(isInside => sorted.filter(value => (value >= q1 - fence && value <= q3 + fence) === isInside))
  const lines = {
    iterations: `${values.length}`,
    ...Object.fromEntries(Object.entries({ min: inside[0], q1, median, q3, max: inside[inside.length - 1] }).map(([name, value]) => [name, value.toFixed(digits)])),
    outliers: `[${outliers.map(value => value.toFixed(digits)).join(', ')}]`,
    samples: `[${values.map(value => value.toFixed(digits)).join(', ')}]`
  }

  return Object.entries(lines).map(([name, value]) => `  ${name}: ${value}\n`).join('')
}

function quantile (sorted: number[], part: number): number {
  const place = part * (sorted.length - 1)
  const below = Math.floor(place)

  return sorted[below] + (sorted[Math.ceil(place)] - sorted[below]) * (place - below)
}
