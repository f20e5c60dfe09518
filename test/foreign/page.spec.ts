import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { FOREIGN, IDENTITIES } from '../../src/foreign/list.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const page = readFileSync(path.join(ROOT, 'src/foreign/README.md'), 'utf8')

/** By heading: the cells of the rows of the table below it */
const tables = new Map(page.split(/^## /m).slice(1).map(section => {
  const [heading, ...lines] = section.split('\n')
  const rows = lines.filter(line => line.startsWith('|')).slice(2).map(line => line.split('|').slice(1, -1).map(cell => cell.trim()))

  return [heading.trim(), rows]
}))

function code (cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text)
}

describe('src/foreign/README.md', () => {
  for (const { object, replaces, uses } of Object.values(FOREIGN)) {
    it(`lists each member of a ${object} that the code lists, and no other`, () => {
      const listed = (tables.get(object) ?? []).flatMap(([members]) => code(members))

      expect(listed.sort()).to.deep.equal([...new Set([...Object.keys(uses), ...replaces])].sort())
    })
  }

  // the base class is subclassed: its methods are overridden
  for (const { object, replaces } of Object.values(FOREIGN).filter(({ object }) => object !== FOREIGN.base.object)) {
    it(`has the methods of a ${object} that the code replaces in bold, and no other`, () => {
      const bold = (tables.get(object) ?? []).flatMap(([members]) => [...members.matchAll(/\*\*`([^`]+)`\*\*/g)].map(([, text]) => text))

      expect(bold.sort()).to.deep.equal([...replaces].sort())
    })
  }

  it('lists each identity that the code lists, and no other', () => {
    const listed = (tables.get('Identities') ?? []).flatMap(([identity]) => code(identity))

    expect(listed.sort()).to.deep.equal(Object.values(IDENTITIES).map(({ identity }) => identity).sort())
  })

  it('names a test that exists for each row, and says when the row will be unnecessary', () => {
    for (const row of [...tables.values()].flat()) {
      const files = code(row.at(-2) ?? '').filter(text => text.startsWith('test/'))

      expect(row.at(-1), row[0]).to.not.equal('')
      expect(code(row.at(-2) ?? ''), row[0]).to.not.be.empty()
      files.forEach(file => { expect(existsSync(path.join(ROOT, file)), file).to.equal(true) })
    }
  })
})
