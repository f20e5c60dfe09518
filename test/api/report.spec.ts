import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach, temporaryDirectory } from '../fixtures/cleanup.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { packageRoot } from '../lab/script-path.ts'

const root = packageRoot()
const { exports }: { exports: Record<string, { types: string }> } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
const compilerOptions = { module: 'nodenext', moduleResolution: 'nodenext', target: 'es2022', lib: ['esnext', 'dom'], typeRoots: [path.join(root, 'node_modules/@types')], types: ['node'], skipLibCheck: true }
const quiet = { default: { logLevel: 'none' as any } }

function config (types: string, reportFileName: string, reportTempFolder?: string): ExtractorConfig {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: path.join(root, types),
      compiler: { overrideTsconfig: { compilerOptions } },
      apiReport: { enabled: true, reportFileName, reportFolder: path.join(root, 'test/api'), reportTempFolder },
      messages: { extractorMessageReporting: quiet, compilerMessageReporting: quiet, tsdocMessageReporting: quiet }
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(root, 'package.json')
  })
}

const isBuilt = Object.values(exports).every(({ types }) => existsSync(path.join(root, types)))

/** A change of these pages in a review is a change of what users rely on */
describe(`the public surface of the built package${isBuilt ? '' : ' (SKIPPED: npm run build comes first)'}`, function () {
  this.timeout(60_000)

  skipUnless(isBuilt)

  const defer = cleanUpAfterEach()
  const entries = Object.entries(exports).map(([entry, { types }]) => ({ entry, types, name: `${path.basename(path.dirname(types)).replace('src', 'index')}.api.md` }))
  const states: CompilerState[] = []

  before(() => {
    states.push(CompilerState.create(config(entries[0].types, entries[0].name), { additionalEntryPoints: entries.map(({ types }) => path.join(root, types)) }))
  })

  for (const { entry, types, name } of entries) {
    it(`of "${entry}" is what test/api/${name} says. If you mean to change it, run UPDATE_API=true npm test -- --grep "public surface"`, async () => {
      const folder = await temporaryDirectory(defer)
      const localBuild = process.env.UPDATE_API === 'true'
      const { apiReportChanged } = Extractor.invoke(config(types, name, folder), { compilerState: states[0], localBuild, messageCallback: message => { message.handled = true } })

      expect(apiReportChanged, readFileSync(path.join(folder, name), 'utf8')).to.equal(localBuild && apiReportChanged)
    })
  }
})
