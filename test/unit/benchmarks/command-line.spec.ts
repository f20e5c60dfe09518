import { spawnSync } from 'node:child_process'
import { expect } from 'aegir/chai'
import { Command } from 'commander'
import { commandText, outOption } from '../../../benchmarks/command-line/options.ts'
import { RESULTS } from '../../../benchmarks/report/results.ts'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../lab/arguments.ts'
import { selectContenders } from '../../lab/peers/registry.ts'
import { scriptPath } from '../../lab/script-path.ts'

/**
 * What the commands of a program see when it is given these arguments
 */
async function seen (...args: string[]): Promise<Array<{ text: string, out: string }>> {
  const seen: Array<{ text: string, out: string }> = []
  const program = new Command()

  for (const [name, isDefault] of [['connect', true], ['scale', false]] as const) {
    program.command(name, { isDefault })
      .option('--quick')
      .addOption(outOption())
      .action(({ out }, command) => { seen.push({ text: commandText(command), out }) })
  }

  program.command('both').action(async () => {
    await program.parseAsync(['connect', '--out'], { from: 'user' })
    await program.parseAsync(['scale'], { from: 'user' })
  })

  await program.parseAsync(args, { from: 'user' })

  return seen
}

describe('benchmarks: command line', () => {
  it('reads numbers and lists', () => {
    expect(numberFrom(0)('0.5')).to.equal(0.5)
    expect(listOf(wholeFrom(1))('10, 100')).to.deep.equal([10, 100])
    expect(listOf(oneOf(['a', 'b']))('b,a')).to.deep.equal(['b', 'a'])
    expect(listOf(oneOf(['a', 'b']))('b,a,b'), 'each once').to.deep.equal(['b', 'a'])
  })

  it('says what it wants instead', () => {
    expect(() => numberFrom(0)('-1')).to.throw('a number, 0 or more')
    expect(() => numberFrom(0)(' ')).to.throw('a number, 0 or more')
    expect(() => wholeFrom(1)('1.5')).to.throw('a whole number')
    expect(() => listOf(oneOf(['a', 'b']))('a,c')).to.throw('There are a, b.')
  })

  it('refuses to measure nobody', () => {
    expect(selectContenders('scale', { levels: ['connection'], rivals: ['net'] }).map(({ name }) => name)).to.deep.equal(['net'])
    expect(() => selectContenders('scale', { levels: ['stream'], rivals: ['net', 'hasty'] })).to.throw('There is no net and no hasty at the stream level')
  })

  it('names the script that makes a result again', async () => {
    expect((await seen())[0].text).to.equal('npm run benchmark')
    expect((await seen('--quick'))[0].text).to.equal('npm run benchmark -- --quick')
    expect((await seen('connect', '--quick'))[0].text).to.equal('npm run benchmark -- --quick')
    expect((await seen('scale'))[0].text).to.equal('npm run benchmark:scale')
    expect((await seen('scale', '--out', 'scale'))[0].text).to.equal('npm run benchmark:scale -- --out scale')
  })

  it('writes where git does not look, unless it is told to', async () => {
    expect((await seen('scale'))[0].out).to.equal(`${RESULTS}/local`)
    expect((await seen('scale', '--out'))[0].out).to.equal(RESULTS)
    expect((await seen('scale', '--out', '/elsewhere'))[0].out).to.equal('/elsewhere')
  })

  it('runs one command after another, each with its own flags', async () => {
    expect(await seen('both')).to.deep.equal([
      { text: 'npm run benchmark -- --out', out: RESULTS },
      { text: 'npm run benchmark:scale', out: `${RESULTS}/local` }
    ])
  })

  it('lists every command', () => {
    const { stdout } = spawnSync(process.execPath, [scriptPath(import.meta.url, '../../../benchmarks/cli'), '--help'], { encoding: 'utf8' })

    for (const name of ['connect', 'nagle', 'throughput', 'scale', 'all', 'readme', 'compare']) {
      expect(stdout).to.match(new RegExp(`^  ${name} \\[options\\]`, 'm'))
    }
  })

  for (const [what, args, message] of [
    ['an unknown suite', ['nothing'], /unknown suite 'nothing'/],
    ['an address to listen on that is none', ['--listen', 'nonsense'], /IP address of this machine/],
    ['an address to listen on that another machine has', ['--listen', '192.0.2.1'], /IP address of this machine/],
    ['a file as the directory of results', ['--out', import.meta.filename], /is no directory/],
    ['a directory below a file', ['scale', '--out', `${import.meta.filename}/results`], /is no directory/]
  ] as const) {
    it(`refuses ${what} at once, in one line`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [scriptPath(import.meta.url, '../../../benchmarks/cli'), ...args], {
        encoding: 'utf8',
        timeout: 30_000,
        // of its TypeScript
        env: { ...process.env, NODE_NO_WARNINGS: '1' }
      })

      expect(status).to.equal(1)
      expect(stdout).to.equal('')
      expect(stderr.trim()).to.match(message).and.not.include('\n')
    })
  }
})
