import * as vega from 'vega'
import { compile } from 'vega-lite'
import { textWidth } from './chart.ts'
import { FAINT_OPACITY, LINE, SERIES, TEXT } from './palette.ts'
import type { Config, TopLevelSpec } from 'vega-lite'

const FONT = '-apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif'

/** How all charts look. The background is the page's. */
const CONFIG: Config = {
  background: 'transparent',
  // a page shows the chart as an image, in which nothing reads the labels of its parts
  aria: false,
  font: FONT,
  padding: 12,
  view: { stroke: null },
  range: { category: SERIES },
  title: { anchor: 'start', frame: 'bounds', color: TEXT, subtitleColor: TEXT, fontSize: 15, subtitleFontSize: 12, subtitlePadding: 5, offset: 14 },
  axis: {
    labelColor: TEXT,
    titleColor: TEXT,
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: 'normal',
    titlePadding: 10,
    labelLimit: 0,
    domainColor: LINE,
    tickColor: LINE,
    gridColor: LINE,
    gridOpacity: FAINT_OPACITY
  },
  text: { color: TEXT, fontSize: 12 }
}

/** Draws a chart without a browser. The same chart is the same text each time. */
export async function renderSvg (chart: TopLevelSpec): Promise<string> {
  measureText()

  const { spec } = compile(chart, { config: CONFIG })
  const view = new vega.View(vega.parse(spec), { renderer: 'none' })

  try {
    // more digits than a pixel has
    return `${(await view.toSVG()).replaceAll(/\d+\.\d{3,}/g, number => `${Number(Number(number).toFixed(2))}`)}\n`
  } finally {
    view.finalize()
  }
}

interface TextMetrics {
  width(item: { fontSize?: number }, text: unknown): number
}

/**
 * Without a canvas to measure text on, vega takes every character to be as wide
 * as the widest and leaves a third of a chart empty.
 */
function measureText (): void {
  // its typings leave this part of vega-scenegraph out
  const { textMetrics } = vega as unknown as { textMetrics: TextMetrics }

  textMetrics.width = ({ fontSize = 11 }, text) => textWidth(String(text ?? ''), fontSize)
}
