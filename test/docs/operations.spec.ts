import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import { describeNegotiation } from '../../src/dial/negotiation-plan.ts'
import { packageRoot } from '../lab/script-path.ts'
import type { NegotiationPlan } from '../../src/dial/plan.ts'
import type { FastOpenOutcome, HolePunchFailure, PortUse } from '../../src/index.ts'

const MODES: NegotiationPlan[] = [
  { name: 'option' },
  { name: 'responder' },
  { name: 'unencrypted' },
  { name: 'redial' },
  { name: 'refused', ago: 12 * 60_000 }
]

/* The compiler tells when a label is missing here */
const PORTS: Record<PortUse, string> = {
  reused: 'reused', option: 'option', chosen: 'chosen', 'no-listener': 'no-listener', recent: 'recent', taken: 'taken'
}
const FAST_OPEN: Record<FastOpenOutcome, string> = {
  acknowledged: 'acknowledged', no_cookie: 'no_cookie', not_acknowledged: 'not_acknowledged', retransmitted: 'retransmitted', no_data: 'no_data'
}
const PUNCHES: Record<'tried' | 'opened' | HolePunchFailure, string> = {
  tried: 'tried', opened: 'opened', timeout: 'failed_timeout', refused: 'failed_refused', upgrade: 'failed_upgrade', denied: 'failed_denied', stopped: 'failed_stopped', busy: 'failed_busy'
}

const LABELS: Record<string, Record<string, string>> = {
  libp2p_tcp_dial_ports_total: PORTS,
  libp2p_tcp_fast_open_dials_total: FAST_OPEN,
  libp2p_tcp_hole_punches_total: PUNCHES
}

const root = packageRoot()
const page = readFileSync(path.join(root, 'docs/operations.md'), 'utf8')

/** The text of the page between a heading and the next one */
function section (heading: string): string {
  const [, text] = page.split(`\n## ${heading}\n`)

  return text.split('\n## ')[0]
}

const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => readFileSync(path.join(root, 'src', file), 'utf8'))

/** What a pattern finds in the sources, once each */
function inSources (pattern: RegExp): string[] {
  return [...new Set(sources.flatMap(source => [...source.matchAll(pattern)].map(([, name]) => name)))].sort()
}

/** What a pattern finds in a section, once each */
function inSection (heading: string, pattern: RegExp): string[] {
  return [...new Set([...section(heading).matchAll(pattern)].map(([, name]) => name))].sort()
}

describe('docs/operations.md', () => {
  for (const mode of MODES) {
    it(`explains the log line of a dial in full: ${mode.name}`, () => {
      expect(page).to.include(describeNegotiation(mode))
    })
  }

  it('has a row for each metric, and for nothing else', () => {
    const names = inSources(/'(libp2p_\w+)'/g)

    expect(names).to.not.be.empty()
    expect(inSection('Metrics', /^\| `(\w+)`/gm)).to.deep.equal(names)
  })

  for (const [metric, labels] of Object.entries(LABELS)) {
    it(`has all labels of ${metric}, and no other`, () => {
      const [, cell] = section('Metrics').split(`\n| \`${metric}\``)[1].split('|')

      expect([...cell.matchAll(/`([^`]+)`/g)].map(([, label]) => label)).to.have.members(Object.values(labels))
    })
  }

  it('names each log, and no other', () => {
    const names = inSources(/forComponent\('([^']+)'\)/g)

    expect(names).to.not.be.empty()
    expect(inSection('Logs', /`(libp2p:[\w:-]+)`/g)).to.deep.equal(names)
  })
})
