import { LINE, TEXT } from './palette.ts'
import type { TopLevelSpec } from 'vega-lite'

/** What the charts of all benchmarks are made of: marks at places, in panels below each other */
export interface Chart {
  title: string
  subtitle: string[]
  legend?: Array<{ name: string, colour: string }>

  /** In a row, one if not given; the rest goes below */
  columns?: number
  panels: Panel[]
}

export interface Panel {
  title?: string
  subtitle?: string
  width: number

  /** In pixels */
  height: number
  x: Axis
  y: Axis

  /** From the lowest to the highest */
  marks: Mark[]
}

export interface Axis {
  title?: string

  /** Names in the order of the values, in place of numbers */
  isNominal?: boolean
  domain?: [number, number]
  isLog?: boolean

  /** From the top down, as time runs in a sequence */
  isReversed?: boolean
  ticks?: number[]

  /** Without labels */
  isHidden?: boolean
}

export interface Mark {
  type: 'bar' | 'line' | 'point' | 'rule' | 'text'
  colour: string
  values: Array<{ x: number | string, y: number | string, x2?: number, y2?: number, text?: string }>

  /** The thickness of bars and lines, the area of points, the font size of texts */
  size?: number

  /** Pixels to the right and down */
  dx?: number
  dy?: number

  /** Of a text; to the left if not given */
  align?: 'left' | 'center' | 'right'

  /** A line that keeps its height until the next value */
  isStepped?: boolean
  shape?: string
}

/** The one place that knows vega-lite */
export function chartSpec ({ title, subtitle, legend = [], columns = 1, panels }: Chart): TopLevelSpec {
  return {
    title: { text: title, subtitle },
    description: title,
    spacing: 20,
    vconcat: [
      ...legend.length === 0 ? [] : [panelSpec(legendPanel(legend))],
      { columns, spacing: { row: 24, column: 32 }, concat: panels.map(panelSpec) }
    ]
  } as TopLevelSpec
}

function panelSpec ({ title, subtitle, width, height, x, y, marks }: Panel): object {
  return {
    ...title == null ? {} : { title: { text: title, ...subtitle == null ? {} : { subtitle }, fontSize: 12, subtitlePadding: 3, offset: 8, frame: 'group' } },
    width,
    height,
    layer: marks.filter(({ values }) => values.length > 0).map(mark => ({
      data: { values: mark.values },
      mark: markSpec(mark),
      encoding: {
        x: { field: 'x', ...axisSpec(x) },
        y: { field: 'y', ...axisSpec(y) },
        ...has(mark, 'x2') ? { x2: { field: 'x2' } } : {},
        ...has(mark, 'y2') ? { y2: { field: 'y2' } } : {},
        ...mark.type === 'text' ? { text: { field: 'text' } } : {}
      }
    }))
  }
}

function has ({ values }: Mark, key: 'x2' | 'y2'): boolean {
  return values.some(value => value[key] != null)
}

function markSpec ({ type, colour, size, dx = 0, dy = 0, align = 'left', isStepped = false, shape }: Mark): object {
  const moved = { xOffset: dx, yOffset: dy }

  switch (type) {
    case 'bar': return { type, color: colour, height: size, ...moved }
    case 'line': return { type, color: colour, strokeWidth: size ?? 2, ...isStepped ? { interpolate: 'step-after' } : {} }
    case 'point': return { type, color: colour, filled: shape == null, size: size ?? 30, opacity: 1, ...shape == null ? {} : { shape }, ...moved }
    case 'rule': return { type, color: colour, strokeWidth: size ?? 2, ...moved }
    default: return { type, color: colour, align, baseline: 'middle', fontSize: size ?? 11, dx, dy, lineBreak: '\n' }
  }
}

function axisSpec ({ title, isNominal = false, domain, isLog = false, isReversed = false, ticks, isHidden = false }: Axis): object {
  if (isNominal) {
    return { type: 'nominal', sort: null, title: title ?? null, axis: { domain: false, ticks: false, labelPadding: 10 } }
  }

  return {
    type: 'quantitative',
    title: title ?? null,
    scale: { ...domain == null ? {} : { domain, nice: false }, ...isLog ? { type: 'log', base: 2 } : {}, ...isReversed ? { reverse: true } : {} },
    axis: isHidden ? null : { domain: false, tickCount: 6, ...ticks == null ? {} : { values: ticks }, labelExpr: 'format(datum.value, datum.value < 1 ? "~g" : ",")' }
  }
}

const SWATCH = 14

/** The legends of vega stand within one of several panels and push it out of line. */
function legendPanel (entries: Array<{ name: string, colour: string }>): Panel {
  let end = 0
  const places = entries.map(({ name, colour }) => {
    const x = end
    end += SWATCH + textWidth(name, 12) + 18

    return { x, name, colour }
  })

  return {
    width: Math.ceil(end),
    height: 12,
    x: { domain: [0, end], isHidden: true },
    y: { domain: [0, 1], isHidden: true },
    marks: places.flatMap(({ x, name, colour }): Mark[] => [
      { type: 'point', colour, size: 90, values: [{ x: x + 5, y: 0.5 }] },
      { type: 'text', colour: TEXT, size: 12, dx: SWATCH, values: [{ x, y: 0.5, text: name }] }
    ])
  }
}

/** Pixels that a text takes in a common sans-serif font; fonts differ by a tenth */
export function textWidth (text: string, fontSize: number): number {
  return text.length * fontSize * 0.58
}

/** From the least to the most of what is positive, with some room */
export function logDomain (values: number[], room = 1.1): [number, number] {
  const positive = values.filter(value => value > 0)

  return [Math.min(...positive) / room, Math.max(...positive) * room]
}

/** Powers of two, with steps between them over a narrow range, and 1, 2, 5 times powers of ten over a wide one */
export function logTicks ([least, most]: [number, number]): number[] {
  const [base, mantissas] = most / least > 100 ? [10, [1, 2, 5]] : [2, most / least > 4 ? [1] : [1, 1.25, 1.5, 1.75]]
  const first = Math.floor(Math.log(least) / Math.log(base))
  const last = Math.ceil(Math.log(most) / Math.log(base))

  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    .flatMap(power => mantissas.map(mantissa => mantissa * base ** power))
    .filter(tick => tick >= least && tick <= most)
}

export interface BarGroup {
  name: string
  bars: Array<{ colour: string, value: number, p10: number, p90: number }>
}

const LANE = 13

/** Ratios to one, a group of bars for each name: twice as much and half as much are equally far from it */
export function ratioPanel (title: string, groups: BarGroup[]): Panel {
  const domain = logDomain([1, ...groups.flatMap(({ bars }) => bars.flatMap(({ value, p10, p90 }) => [value, p10, p90]))])
  const lanes = Math.max(...groups.map(({ bars }) => bars.length))
  const at = (lane: number): number => (lane - (lanes - 1) / 2) * LANE
  const each = (use: (bar: BarGroup['bars'][number], name: string, dy: number) => Mark): Mark[] => groups.flatMap(({ name, bars }) => bars.map((bar, lane) => use(bar, name, at(lane))))

  return {
    title,
    width: 360,
    height: groups.length * (lanes + 1) * LANE,
    x: { isLog: true, domain, ticks: logTicks(domain) },
    y: { isNominal: true },
    marks: [
      ...each(({ colour, value }, name, dy) => ({ type: 'bar', colour, size: LANE - 4, dy, values: [{ x: 1, x2: value, y: name }] })),
      ...each(({ p10, p90 }, name, dy) => ({ type: 'rule', colour: TEXT, size: 1.5, dy, values: [{ x: p10, x2: p90, y: name }] })),
      ...each(({ value, p90 }, name, dy) => ({ type: 'text', colour: TEXT, size: 10, dx: 6, dy, values: [{ x: Math.max(value, p90, 1), y: name, text: `${value.toFixed(2)}` }] })),
      { type: 'rule', colour: LINE, size: 1, values: [{ x: 1, x2: 1.0001, y: groups[0].name }] }
    ]
  }
}
