import { openSockets, until } from '../../fixtures/waiting.ts'
import { nodeKiller } from './node-states.ts'
import { killRaw } from './raw-states.ts'
import type { Scenario, Suite } from '../scenario.ts'
import type { NodeState, RawState } from './kill.ts'

export const kill: Suite = {
  name: 'kill',
  promise: 'The process of the remote is killed. The dial fails, the connection and its streams close once, or the socket that lingers goes, within 1 s, and nothing stays open',
  missing: async () => process.platform === 'linux' ? undefined : 'it reads /proc/net/tcp',
  scenarios: [
    raw('dialing', 'dialing: SYN is not answered'),
    raw('connected', 'connected, not accepted yet'),
    node('noise', 'during the handshake of Noise'),
    node('muxer', 'during the negotiation of the muxer'),
    node('idle', 'idle'),
    node('sending', 'in the middle of sending'),
    node('receiving', 'in the middle of receiving'),
    raw('half-closed', 'half-closed by the remote, with data to send'),
    raw('closing', 'during our close, with data to send'),
    raw('lingering', 'lingering after our close')
  ]
}

function raw (state: RawState, name: string): Scenario {
  return scenario(name, async ({ defer }) => {
    defer(async () => until(() => openSockets() === 0, 'no socket is left'))

    return async run => killRaw(state, run)
  })
}

function node (state: NodeState, name: string): Scenario {
  return scenario(name, async ({ defer }) => nodeKiller(state, defer))
}

function scenario (name: string, prepare: Scenario['prepare']): Scenario {
  return {
    name,
    runs: 20,
    concurrency: 4,
    timeout: 90_000,
    prepare
  }
}
