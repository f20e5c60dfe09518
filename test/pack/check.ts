/* eslint-disable no-console */
/*
 * Packs the package, installs it in an empty project, type-checks a program
 * that uses it there and runs that program under every supported Node. Bundles it for browsers, too.
 */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { links } from '../docs/fixtures/markdown.ts'
import { BUNDLERS, checkBundles } from './bundles.ts'

const NODES = ['22', '24', '26']

/** What nobody notices when it is not there */
const FILES = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE-APACHE', 'LICENSE-MIT', 'dist/src/index.js', 'dist/src/index.d.ts', 'dist/src/linux/index.js', 'dist/src/nat/index.js']

/** Bytes of the tarball: what everybody downloads who installs a node */
const MOST = 330 * 1024

/** What looks at the packed package. Nothing of it can be required from CommonJS: libp2p has only ES modules too */
const LINTERS = { publint: ['--strict'], attw: ['--profile', 'esm-only', '--no-emoji', '--no-color'] }

/** What nothing can reach, since `exports` does not name it */
const UNREACHABLE = 'dist/index.min.js'

const root = path.resolve(import.meta.dirname, '../..')
const project = await mkdtemp(path.join(os.tmpdir(), 'fast-tcp-pack-'))

try {
  console.info('packing')
  const { stdout } = await execa('npm', ['pack', '--json', '--pack-destination', project], { cwd: root })
  const [{ filename, size, files }] = JSON.parse(stdout)
  console.info('packed %s: %d files, %d bytes', filename, files.length, size)

  if (size > MOST) {
    throw new Error(`The tarball has ${size} bytes, more than ${MOST}`)
  }

  const missing = FILES.filter(file => !files.some((packed: { path: string }) => packed.path === file))

  if (missing.length > 0) {
    throw new Error(`Not packed: ${missing.join(', ')}`)
  }

  if (files.some((packed: { path: string }) => packed.path.startsWith(UNREACHABLE))) {
    throw new Error(`Packed, and nothing can reach it: ${UNREACHABLE}`)
  }

  console.info('installing it in an empty project')
  await writeFile(path.join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  await copyFile(path.join(root, 'test/pack/consumer.ts'), path.join(project, 'consumer.ts'))
  await execa('npm', ['install', path.join(project, filename), 'libp2p@3', '@libp2p/noise@17', '@libp2p/yamux@8', 'typescript@5', '@types/node@24', 'publint@0.3', '@arethetypeswrong/cli@0.18', ...BUNDLERS], { cwd: project })

  const dead = await deadLinks(path.join(project, 'node_modules/libp2p-fast-tcp'), files.map((packed: { path: string }) => packed.path))

  if (dead.length > 0) {
    throw new Error(`Links to what is not packed: ${dead.join(', ')}`)
  }

  for (const [name, args] of Object.entries(LINTERS)) {
    await execa(path.join(project, 'node_modules/.bin', name), [...args, filename], { cwd: project, stdout: 'inherit', stderr: 'inherit' })
  }

  console.info('type-checking under moduleResolution nodenext')
  await execa('npx', ['tsc', '--strict', '--target', 'es2024', '--lib', 'es2024,dom', '--module', 'nodenext', '--moduleResolution', 'nodenext', '--skipLibCheck', 'false', 'consumer.ts'], { cwd: project, stdout: 'inherit' })

  await checkBundles(project)

  for (const major of NODES) {
    const prefix = path.join(project, `node-${major}`)
    await mkdir(prefix)
    await execa('npm', ['install', '--prefix', prefix, `node@${major}`])
    const node = path.join(prefix, 'node_modules/node/bin/node')
    const version = (await execa(node, ['--version'])).stdout
    const result = await execa(node, ['consumer.js'], { cwd: project, timeout: 30_000 })

    if (result.stdout !== 'hello') {
      throw new Error(`Node ${version} printed ${result.stdout}`)
    }

    console.info('Node %s: imports, dials and echoes', version)
    console.info('Node %s: linux() %s', version, await linuxOf(node))

    const plugIns = await loadedPlugIns(node)

    if (plugIns !== '') {
      throw new Error(`Node ${version} loads what nobody imports: ${plugIns}`)
    }
  }
} finally {
  await rm(project, { recursive: true, force: true })
}

/** What a program loads of the plug-ins that imports none */
async function loadedPlugIns (node: string): Promise<string> {
  const program = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ resolve: (name, context, next) => { const resolved = next(name, context); urls.push(resolved.url); return resolved } })
    await import('libp2p-fast-tcp')
    if (!urls.some(url => url.includes('/dist/src/dial/'))) console.log('nothing was seen')
    console.log(urls.filter(url => /[/]dist[/]src[/](nat|linux)[/]/.test(url)).join())`

  return (await execa(node, ['--no-warnings', '--input-type=module', '--eval', program], { cwd: project })).stdout
}

/** Of the pages that are packed */
async function deadLinks (directory: string, files: string[]): Promise<string[]> {
  const pages = await Promise.all(files.filter(file => file.endsWith('.md')).map(async page => {
    const targets = links(await readFile(path.join(directory, page), 'utf8')).map(link => link.split('#')[0]).filter(target => target !== '')

    return targets.filter(target => !existsSync(path.resolve(directory, path.dirname(page), decodeURIComponent(target)))).map(target => `${page} -> ${target}`)
  }))

  return pages.flat()
}

/** Here, where koffi is not installed: what `linux()` says is missing, or `is there` */
async function linuxOf (node: string): Promise<string> {
  const program = "import { linux } from 'libp2p-fast-tcp/linux'; try { linux(); console.log('is there') } catch (err) { console.log('has no ' + err.missing) }"
  const { stdout } = await execa(node, ['--no-warnings', '--input-type=module', '--eval', program], { cwd: project })

  return stdout
}
