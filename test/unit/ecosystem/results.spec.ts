import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { withLater } from '../../ecosystem/later.ts'
import { STACK, report } from '../../ecosystem/report.ts'
import { environment } from '../../lab/report/environment.ts'
import type { ProgramName } from '../../ecosystem/programs.ts'
import type { Results } from '../../ecosystem/report.ts'
import type { Outcome } from '../../ecosystem/run-program.ts'

function outcome (program: ProgramName, wall: number): Outcome {
  return { program, mode: 'official', facts: {}, complaints: [], wall, cpu: 1 }
}

function results (command: string, rounds: Outcome[][], versions: Record<string, string> = {}): Results {
  return { environment: environment(command), versions: { ...Object.fromEntries(STACK.map(name => [name, '1.0.0'])), ...versions }, rounds }
}

function wallsOf ({ rounds }: Results): Array<Array<[string, number]>> {
  return rounds.map(round => round.map(({ program, wall }) => [program, wall]))
}

describe('the results of programs that others wrote', () => {
  it('are on the page as results.json has them: `npm run test:ecosystem -- --page` writes it', async () => {
    const [json, page] = await Promise.all(['results.json', 'RESULTS.md'].map(async name => readFile(path.join(import.meta.dirname, '../../ecosystem', name), 'utf8')))

    expect(report(JSON.parse(json))).to.equal(page)
  })

  it('have a program that ran again in place of what it did before, and say when it ran', () => {
    const whole = results('all', [[outcome('ping', 1), outcome('fetch', 2)], [outcome('ping', 3), outcome('fetch', 4)]], { '@libp2p/fetch': '1.0.0' })
    const again = results('again', [[outcome('fetch', 5)]], { '@libp2p/fetch': '1.0.1' })
    const once = withLater(whole, again, ['fetch'])
    const twice = withLater(once, results('once more', [[outcome('fetch', 6)], [], [outcome('fetch', 7)]]), ['fetch'])

    expect(wallsOf(once)).to.deep.equal([[['ping', 1], ['fetch', 5]], [['ping', 3]]])
    expect(once.versions).to.include({ '@libp2p/fetch': '1.0.1' })
    expect(once.environment.command).to.equal('all')
    expect(wallsOf(twice)).to.deep.equal([[['ping', 1], ['fetch', 6]], [['ping', 3]], [['fetch', 7]]])
    expect(twice.later?.map(({ programs, environment: { command } }) => [programs, command])).to.deep.equal([[['fetch'], 'once more']])
  })

  it('are not mixed with those of another version of libp2p', () => {
    expect(() => withLater(results('all', []), results('again', [], { libp2p: '2.0.0' }), ['ping'])).to.throw('libp2p is 2.0.0')
  })
})
