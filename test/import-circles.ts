/* eslint-disable no-console */
/*
 * Fails where modules import each other in a circle, types included: neither of
 * two such modules can be read, tested or moved without the other. Fails also where
 * a folder of src imports from one that builds on it.
 */
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '..')

/** Folders of src, each of which imports only from those before it */
const LAYERS = ['bytes', 'event-loop', 'connection', 'encryption', 'negotiation', 'listener', 'dial']
const IMPORT = /(?:\bfrom|\bimport|\bimport\() ?'(\.[^']+)'/g

const files = ['src', 'benchmarks', 'test'].flatMap(folder => readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && !file.includes('node_modules'))
  .map(file => path.join(ROOT, folder, file)))
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

process.exitCode = circles.length + backward.length === 0 ? 0 : 1

/** -1 for what is in none of them */
function layerOf (file: string): number {
  return LAYERS.indexOf(path.relative(path.join(ROOT, 'src'), file).split(path.sep)[0])
}
