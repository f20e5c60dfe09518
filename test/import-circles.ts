/* eslint-disable no-console */
/*
 * Fails if modules import each other in a circle, types included: neither of two such modules can
 * be read, tested or moved without the other. Fails also if a part of the package imports from
 * one that builds on it, or if a file of `src` belongs to no part.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The parts of the package. Each imports only from itself and from those before it */
const LAYERS = [
  ['src/printable.ts', 'src/safe-logger.ts', 'src/safe-metrics.ts', 'src/check-options.ts', 'src/libp2p.ts', 'src/errors.ts', 'src/addresses.ts', 'src/connection/wire-filter.ts', 'src/connector.ts', 'src/components.ts', 'src/recent.ts', 'src/sharing-muxers.ts', 'src/dial-events.ts', 'src/options.ts', 'src/plugin.ts'],
  ['src/presumed.ts', 'src/base-class.ts'],
  ['src/bytes'],
  ['src/event-loop'],
  ['src/connection/fin-wait.ts', 'src/settings.ts'],
  ['src/connection'],
  ['src/optimistic'],
  ['src/yamux'],
  ['src/noise'],
  ['src/listener'],
  ['src/dial'],
  ['src/tcp.ts', 'src/tcp.browser.ts', 'src/index.ts'],
  // plug-ins: who does not import them loads neither
  ['src/nat'],
  ['src/linux'],
  ['test/lab'],
  ['benchmarks'],
  ['test']
]
const IMPORT = /(?:\bfrom|\bimport|\bimport\() ?'(\.[^']+)'/g

const imports = new Map(globSync('{src,benchmarks,test}/**/*.ts', { exclude: ['**/node_modules/**', '**/.*/**'] }).map(file => [
  file,
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, name]) => path.join(path.dirname(file), name))
]))
const finished = new Set<string>()
const faults: string[] = []

for (const [file, names] of imports) {
  visit(file, [])
  faults.push(
    ...layerOf(file) < 0 ? [`no layer has ${file}`] : [],
    ...names.filter(name => layerOf(file) >= 0 && layerOf(name) > layerOf(file)).map(name => `import from a layer above: ${file} -> ${name}`)
  )
}

faults.forEach(fault => { console.error(fault) })
process.exitCode = faults.length === 0 ? 0 : 1

function visit (file: string, way: string[]): void {
  if (way.includes(file)) {
    faults.push(`import circle: ${[...way.slice(way.indexOf(file)), file].join(' -> ')}`)
  } else if (!finished.has(file)) {
    imports.get(file)?.forEach(imported => { visit(imported, [...way, file]) })
    finished.add(file)
  }
}

/** -1 for what is in none of them, such as another package */
function layerOf (file: string): number {
  return LAYERS.findIndex(parts => parts.some(part => file === part || file.startsWith(`${part}/`)))
}
