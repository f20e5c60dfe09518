/* eslint-disable no-console */
/*
 * Fails if modules import each other in a circle, types included: neither of two such modules can
 * be read, tested or moved without the other. Fails also if a part of the package imports from
 * one that builds on it, or if a file of `src` belongs to no part.
 */
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '..')

/** The parts of the package. Each imports only from itself and from those before it */
const LAYERS = [
  ['src/printable.ts', 'src/safe-logger.ts', 'src/check-options.ts', 'src/libp2p.ts', 'src/errors.ts', 'src/addresses.ts', 'src/connector.ts', 'src/components.ts', 'src/recent.ts', 'src/dial-events.ts', 'src/options.ts'],
  ['src/foreign'],
  ['src/bytes'],
  ['src/event-loop'],
  ['src/connection/fin-wait.ts', 'src/settings.ts'],
  ['src/connection'],
  ['src/flow'],
  ['src/optimistic'],
  ['src/yamux'],
  ['src/listener'],
  ['src/nat'],
  ['src/dial'],
  ['src/linux'],
  ['src/tcp.ts', 'src/tcp.browser.ts', 'src/index.ts'],
  ['test/lab'],
  ['benchmarks'],
  ['test']
]
const IMPORT = /(?:\bfrom|\bimport|\bimport\() ?'(\.[^']+)'/g

const files = ['src', 'benchmarks', 'test'].flatMap(folder => modulesOf(path.join(ROOT, folder)))
const imports = new Map(files.map(file => [
  file,
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, name]) => path.resolve(path.dirname(file), name))
]))
const finished = new Set<string>()
const circles: string[][] = []

function visit (file: string, path: string[]): void {
  if (path.includes(file)) {
    circles.push([...path.slice(path.indexOf(file)), file])
  } else if (!finished.has(file)) {
    imports.get(file)?.forEach(imported => { visit(imported, [...path, file]) })
    finished.add(file)
  }
}

files.forEach(file => { visit(file, []) })

for (const circle of circles) {
  console.error('import circle: %s', circle.map(file => path.relative(ROOT, file)).join(' -> '))
}

const backward = [...imports].flatMap(([file, names]) => names
  .filter(name => layerOf(file) >= 0 && layerOf(name) > layerOf(file))
  .map(name => `${path.relative(ROOT, file)} -> ${path.relative(ROOT, name)}`))

for (const arrow of backward) {
  console.error('import from a layer above: %s', arrow)
}

const homeless = files.filter(file => layerOf(file) < 0)

for (const file of homeless) {
  console.error('no layer has %s', path.relative(ROOT, file))
}

process.exitCode = circles.length + backward.length + homeless.length === 0 ? 0 : 1

/** Does not enter folders of tools, such as `.bin`, where a compiler may work at the same time */
function modulesOf (folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const name = path.join(folder, entry.name)

    if (entry.isDirectory()) {
      return entry.name.startsWith('.') || entry.name === 'node_modules' ? [] : modulesOf(name)
    }

    return name.endsWith('.ts') ? [name] : []
  })
}

/** -1 for what is in none of them, such as another package */
function layerOf (file: string): number {
  const name = path.relative(ROOT, file).split(path.sep).join('/')

  return LAYERS.findIndex(parts => parts.some(part => name === part || name.startsWith(`${part}/`)))
}
