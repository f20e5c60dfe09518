/* eslint-disable no-console */
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'

/** What the packages of the bundlers are called, for `npm install` */
export const BUNDLERS = ['esbuild@0.28', 'vite@8']

/** Each writes what it makes of browser.ts to this file */
const BUNDLES: Record<string, { file: string, args: string[] }> = {
  esbuild: {
    file: 'esbuild.js',
    args: ['browser.ts', '--bundle', '--platform=browser', '--format=esm', '--outfile=esbuild.js', '--log-level=warning']
  },
  vite: {
    file: 'vite/browser.js',
    args: ['build', '--logLevel', 'warn']
  }
}

const VITE_CONFIG = {
  build: {
    outDir: 'vite',
    minify: false,
    target: 'esnext',
    rolldownOptions: { input: 'browser.ts', output: { entryFileNames: 'browser.js' } }
  }
}

/** What vite puts where something is that browsers do not have */
const MISSING = '__vite-browser-external'

/** In a browser what needs sockets does not work, and says so */
const ERRORS = [
  'tcp: UnsupportedOperationError: TCP connections are not possible in browsers',
  'optimistic(noise): no error',
  'yamux: no error',
  'holePunching: UnsupportedOperationError: Hole punching over TCP is not possible in browsers',
  'reusePort: UnsupportedOperationError: TCP connections are not possible in browsers',
  'linux: LinuxUnavailableError: linux() needs Node on Linux, this is a browser'
]

/**
 * Bundles all exports for browsers, in a project that has the package and the bundlers installed, and runs the
 * bundles without what browsers do not have.
 *
 * @throws {Error} if a bundler fails, or a bundle does something else than it should
 */
export async function checkBundles (project: string): Promise<void> {
  const entry = path.join(import.meta.dirname, 'browser.ts')
  await copyFile(entry, path.join(project, 'browser.ts'))
  await writeFile(path.join(project, 'vite.config.js'), `export default ${JSON.stringify(VITE_CONFIG)}\n`)

  const names = await exportsOf(project)
  const source = await readFile(entry, 'utf8')

  for (const module of Object.keys(names)) {
    if (!source.includes(`from '${module}'`)) {
      throw new Error(`test/pack/browser.ts does not import ${module}`)
    }
  }

  for (const [name, { file, args }] of Object.entries(BUNDLES)) {
    const { stderr } = await execa(path.join(project, 'node_modules/.bin', name), args, { cwd: project })
    const bundle = await readFile(path.join(project, file), 'utf8')

    if (bundle.includes(MISSING)) {
      throw new Error(`${name} misses what browsers do not have: ${stderr}`)
    }

    const { errors, exported } = await run(project, file)
    expectSame(`errors of the bundle of ${name}`, errors, ERRORS)
    expectSame(`exports of the bundle of ${name}`, exported, Object.values(names))
    console.info('%s: bundles all exports for browsers, %d bytes with libp2p; what needs sockets says so with typed errors', name, bundle.length)
  }
}

/** By the name of each entry point: what it exports in Node */
async function exportsOf (project: string): Promise<Record<string, string>> {
  const { exports, name } = JSON.parse(await readFile(path.join(project, 'node_modules/libp2p-fast-tcp/package.json'), 'utf8'))
  const modules = Object.keys(exports).map(entry => `${name}${entry.slice(1)}`)
  const program = `console.info(JSON.stringify(await Promise.all(${JSON.stringify(modules)}.map(async name => Object.keys(await import(name)).sort().join(' ')))))`
  const names = await evaluate(project, program)

  return Object.fromEntries(modules.map((module, i) => [module, names[i]]))
}

/** Browsers have none of these */
const GLOBALS = ['process', 'global', 'Buffer', 'setImmediate', 'clearImmediate']

async function run (project: string, file: string): Promise<any> {
  return evaluate(project, `for (const name of ${JSON.stringify(GLOBALS)}) delete globalThis[name]\nawait import('./${file}')`)
}

/** @returns what the program prints, which is JSON */
async function evaluate (project: string, program: string): Promise<any> {
  const { stdout } = await execa(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program], { cwd: project, timeout: 30_000 })

  return JSON.parse(stdout)
}

function expectSame (what: string, actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`${what}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`)
  }
}
