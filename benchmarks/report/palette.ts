/**
 * A chart lies on a page that is light or dark, and an image cannot know which.
 * So it has no background, and every colour is far enough from both: marks at
 * least 3:1, text at least 4:1 (contrast as WCAG 2 defines it; no colour has
 * more than 4.4:1 to both at once).
 */
export const LIGHT_PAGE = '#ffffff'
export const DARK_PAGE = '#0d1117'

export const TEXT = '#757b84'

/** Axes, lifelines and spreads */
export const LINE = '#7d858f'

/** For grid lines, which may be faint */
export const FAINT_OPACITY = 0.22

/** What the chart is about, beside what is there to compare */
export const ACCENT = '#2f81f7'
export const MUTED = '#8b949e'

/**
 * Each rival keeps its colour in every chart. Colour-blind readers (protanopia,
 * deuteranopia, tritanopia) can tell all of them apart.
 */
export const RIVALS: Record<string, string> = {
  net: MUTED,
  official: '#d9730d',
  transport: '#84489c',
  ours: ACCENT,
  hasty: '#7028f8',
  'tcp-conn': '#cc003c',
  go: '#00aa6e',
  rust: '#b482c8'
}

/**
 * For what is no rival, such as the phases of a dial. Neighbours differ in lightness
 * too, for readers who see red and green alike.
 */
export const SERIES = ['#2f81f7', '#d9730d', '#1a9c6b', '#a15bd6', '#c2477f', '#8a7d2c', '#0f96a8']

/**
 * The WCAG 2 contrast of two colours, 1 to 21.
 *
 * @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
 */
export function contrast (colour: string, other: string): number {
  const [dark, light] = [luminance(colour), luminance(other)].toSorted((a, b) => a - b)

  return (light + 0.05) / (dark + 0.05)
}

function luminance (colour: string): number {
  const [red, green, blue] = [1, 3, 5].map(start => {
    const channel = parseInt(colour.slice(start, start + 2), 16) / 255

    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })

  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
