import { pathToFileURL } from 'node:url'

/**
 * What Node writes with --cpu-prof, as far as it is read here
 */
export interface CpuProfile {
  nodes: Array<{ id: number, callFrame: CallFrame }>

  /**
   * Of the clock of `process.hrtime`, in microseconds
   */
  startTime: number

  /**
   * Ids of nodes.
   */
  samples: number[]

  /**
   * Microseconds before each sample.
   */
  timeDeltas: number[]
}

export interface CallFrame {
  functionName: string
  url: string
}

/**
 * Microseconds of the clock of `process.hrtime`, which all processes share
 */
export interface Stretch {
  from: number
  until: number
}

/**
 * Which part of a stretch of time each name has of its own, what it calls left
 * out; the largest first. A sample stands for the time up to the next one.
 */
export function selfShares ({ nodes, startTime, samples, timeDeltas }: CpuProfile, { from, until }: Stretch, nameOf: (frame: CallFrame) => string): Map<string, number> {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  let at = startTime
  let sum = 0

  samples.forEach((id, index) => {
    at += timeDeltas[index]
    const time = timeDeltas[index + 1] ?? 0

    if (at >= from && at < until) {
      const name = names.get(id) ?? OTHER
      times.set(name, (times.get(name) ?? 0) + time)
      sum += time
    }
  })

  return new Map([...times].map(([name, time]): [string, number] => [name, time / sum]).toSorted(([, a], [, b]) => b - a))
}

const OTHER = 'other'

const STATES: Record<string, string> = {
  '(idle)': 'idle',
  '(garbage collector)': 'garbage collector',
  '(program)': 'program'
}

/**
 * What `net` calls to have the kernel take bytes
 */
const WRITES = /^(?:writev|writeBuffer|write(?:Latin1|Utf8|Ascii|Ucs2)String)$/

/**
 * Packages that belong together; others go by their own names
 */
const PACKAGES = [
  { of: /^@(?:libp2p|chainsafe)\/(?:libp2p-)?noise$|^@chainsafe\/as-|^@noble\//, place: 'noise' },
  { of: /^@(?:libp2p|chainsafe)\/(?:libp2p-)?yamux$/, place: 'yamux' }
]

const DIRECTORIES: Record<string, string> = {
  src: 'libp2p-fast-tcp',
  benchmarks: 'the benchmark'
}

/**
 * Where a function belongs. `root` is the directory of this project.
 */
export function placeOf ({ functionName, url }: CallFrame, root: string): string {
  const library = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]

  if (url === '') {
    return STATES[functionName] ?? (WRITES.test(functionName) ? 'kernel write' : 'node internals')
  } else if (url.startsWith('node:')) {
    return 'node internals'
  } else if (url.startsWith('wasm:')) {
    // nothing else here is compiled to it
    return 'noise'
  } else if (library != null) {
    return PACKAGES.find(({ of }) => of.test(library))?.place ?? library
  }

  const [directory] = within(url, root).replace(/^dist\//, '').split('/')

  return DIRECTORIES[directory] ?? OTHER
}

/**
 * A function and its file, where it has one.
 */
export function functionOf ({ functionName, url }: CallFrame, root: string): string {
  const name = functionName === '' ? 'a function' : functionName
  const file = within(url, root).replace(/.*node_modules\//, '')

  return file === '' ? name : `${name} of ${file}`
}

function within (url: string, root: string): string {
  const prefix = `${pathToFileURL(root).href}/`

  return url.startsWith(prefix) ? url.slice(prefix.length) : url
}
