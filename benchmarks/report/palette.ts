/**
 * A chart lies on a page that is light or dark, and an image cannot know which. So it has no
 * background, and every colour has enough contrast to both.
 */
export const TEXT = '#757b84'

/** Axes, lifelines and spreads */
export const LINE = '#7d858f'

/** For grid lines, which may be faint */
export const FAINT_OPACITY = 0.22

/** What the chart is about, beside what is there to compare, and what went wrong */
export const ACCENT = '#2f81f7'
export const MUTED = '#8b949e'
export const ALARM = '#cc003c'

/**
 * Each rival keeps its colour in every chart. Colour-blind readers (protanopia,
 * deuteranopia, tritanopia) can tell all of them apart.
 */
export const RIVALS: Record<string, string> = {
  net: MUTED,
  official: '#d9730d',
  transport: '#84489c',
  ours: ACCENT,
  keyed: '#1a9c6b'
}

/**
 * For what is no rival, such as the phases of a dial. Neighbours differ in lightness
 * too, for readers who see red and green alike.
 */
export const SERIES = ['#2f81f7', '#d9730d', '#1a9c6b', '#a15bd6', '#c2477f', '#8a7d2c', '#0f96a8']
