import * as vega from 'vega'

/**
 * Pixels that a text takes in a common sans-serif font, near enough to leave
 * room for it. Fonts differ by a tenth.
 */
export function textWidth (text: string, fontSize: number): number {
  return text.length * fontSize * 0.58
}

interface TextItem {
  fontSize?: number
  limit?: number
}

interface TextMetrics {
  width(item: TextItem, text: unknown): number
}

/**
 * Without a canvas to measure text on, vega takes every character to be as wide
 * as the widest and leaves a third of a chart empty.
 */
export function measureText (): void {
  // its typings leave this part of vega-scenegraph out
  const { textMetrics } = vega as unknown as { textMetrics: TextMetrics }

  textMetrics.width = ({ fontSize = 11 }, text) => textWidth(String(text ?? ''), fontSize)
}
