import { TEXT } from './palette.ts'

const FONT_SIZE = 12
const SWATCH = 14
const GAP = 18

/** Pixels that a text takes in a common sans-serif font; fonts differ by a tenth */
export function textWidth (text: string, fontSize: number): number {
  return text.length * fontSize * 0.58
}

/**
 * A line of swatches and names. The legends of vega stand within one of several
 * panels and push it out of line.
 */
export function legend (entries: Array<{ name: string, colour: string }>): object {
  let x = 0

  const values = entries.map(({ name, colour }) => {
    const entry = { x, name, colour }
    x += SWATCH + textWidth(name, FONT_SIZE) + GAP

    return entry
  })

  return {
    width: Math.ceil(x),
    height: 12,
    data: { values },
    encoding: {
      x: { field: 'x', type: 'quantitative', axis: null, scale: { domain: [0, x], nice: false } },
      y: { value: 6 }
    },
    layer: [
      {
        mark: { type: 'point', shape: 'square', filled: true, size: 90, opacity: 1, xOffset: 5 },
        encoding: { color: { field: 'colour', type: 'nominal', scale: null } }
      },
      {
        mark: { type: 'text', align: 'left', baseline: 'middle', dx: SWATCH, fontSize: FONT_SIZE, color: TEXT },
        encoding: { text: { field: 'name' } }
      }
    ]
  }
}
