import { setTimeout as delay } from 'node:timers/promises'
import { runProgram } from '../lab/process/program.ts'
import type { Lab } from './lab/lab.ts'
import type { Place, Side } from './lab/network.ts'
import type { Program } from '../lab/process/program.ts'

/** A line that a peer prints; README.md describes them */
type Told = Record<string, any>

export interface PunchCommands extends Record<Place, string[]> {
  /** Sides that run js. One with a public address announces it at once, with no AutoNAT to verify it */
  js: Side[]
}

/** Where the relay listens, and a side that has a public address */
const PUBLIC_PORT = 4001

export interface PunchOutcome {
  ok: boolean

  /** From the relayed connection to the direct one, as the dialer sees it, in ms */
  ms?: number

  /** Whether the relayed connection is still open at the dialer when the run ends */
  relayed: boolean

  /** Whether the relay told the js sides that it sees their listening port; undefined without a js side */
  observed?: boolean

  /** What a failed punch has left at the js sides: sockets, listeners and timers that were not there before */
  left?: string[]

  /** What the peers say about why not */
  reasons: string[]
}

/** How long a peer may take until it has a reservation, in ms */
const READY_TIMEOUT = 30_000

/** How long a js peer may take to count, in ms */
const RESOURCES_TIMEOUT = 10_000

/** How long what a punch has used may take to go, in ms */
const LEFT_TIMEOUT = 5_000

const RESOURCES = ['sockets', 'listeners', 'timers'] as const

/**
 * One run with new processes, ids and ports: `a` dials `b` over the relay, and both
 * have to tell of a direct connection to where the public network sees the other.
 *
 * @param lab - the network
 * @param commands - how to start whom
 * @param patience - how long to wait for that, in ms
 * @param signal - ends the peers
 */
export async function punch (lab: Lab, commands: PunchCommands, patience: number, signal: AbortSignal): Promise<PunchOutcome> {
  const peers: Program[] = []
  const start = (place: Place, command: string[]): Program => {
    const peer = runProgram(lab.commandAt(place, command), { signal })
    peers.push(peer)

    return peer
  }

  try {
    const relay = start('relay', [...commands.relay, '--listen', `/ip4/${lab.relayHost}/tcp/${PUBLIC_PORT}`])
    const { multiaddr = '' } = await relay.until(({ event }) => event === 'listening', READY_TIMEOUT)
    const [a, b] = (['a', 'b'] as const).map(side => start(side, [...commands[side], '--relay', multiaddr, ...addressesOf(side, lab, commands)]))
    const [readyA, readyB] = await Promise.all([a, b].map(async peer => peer.until(({ event }) => event === 'ready', READY_TIMEOUT)))

    const observed = isListeningPortSeen([readyA, readyB])

    const jsSides = commands.js.map(side => ({ side, peer: side === 'a' ? a : b }))
    const before = await Promise.all(jsSides.map(async ({ peer }) => resourcesOf(peer)))

    a.write(`dial ${readyB.address}`)

    try {
      const [direct] = await Promise.all([
        a.until(isDirectTo(lab, 'b', readyB.peerId), patience),
        b.until(isDirectTo(lab, 'a', readyA.peerId), patience)
      ])

      return { ok: true, ms: direct.ms, relayed: isRelayed(a), observed, reasons: [] }
    } catch {
      const left = commands.js.length === 0 ? undefined : (await Promise.all(jsSides.map(async ({ side, peer }, i) => leftBy(peer, before[i]).then(all => all.map(what => `${side}: ${what}`))))).flat()

      return { ok: false, relayed: isRelayed(a), observed, left, reasons: [...reasonsOf('a', a), ...reasonsOf('b', b)] }
    }
  } catch (err: any) {
    return { ok: false, relayed: false, reasons: [err.message] }
  } finally {
    await Promise.all(peers.map(async peer => peer.end()))
  }
}

function addressesOf (side: Side, { publicHosts, shape }: Lab, { js }: PunchCommands): string[] {
  if (shape.nats[side] !== 'none') {
    return ['--listen', '/ip4/0.0.0.0/tcp/0']
  }

  return [
    '--listen', `/ip4/0.0.0.0/tcp/${PUBLIC_PORT}`,
    ...js.includes(side) ? ['--announce', `/ip4/${publicHosts[side]}/tcp/${PUBLIC_PORT}`] : []
  ]
}

/** What a js peer holds now */
async function resourcesOf (peer: Program): Promise<Told> {
  const told = peer.lines.length

  peer.write('resources')

  return peer.until(line => line.event === 'resources' && peer.lines.indexOf(line) >= told, RESOURCES_TIMEOUT)
}

/** What the peer has more of than before, unless it goes within a few seconds: libp2p has timers too */
async function leftBy (peer: Program, before: Told): Promise<string[]> {
  const deadline = performance.now() + LEFT_TIMEOUT

  for (;;) {
    const left = moreThan(before, await resourcesOf(peer))

    if (left.length === 0 || performance.now() > deadline) {
      return left
    }

    await delay(500)
  }
}

function moreThan (before: Told, after: Told): string[] {
  return RESOURCES.flatMap(name => {
    const more = (after[name] ?? 0) - (before[name] ?? 0)

    return more > 0 ? [`${more} ${name}`] : []
  })
}

function isDirectTo (lab: Lab, side: Side, id?: string) {
  return ({ event, peer, address = '' }: { event: string, peer?: string, address?: string }): boolean => (
    event === 'direct' && peer === id && address.startsWith(`/ip4/${lab.publicHosts[side]}/`)
  )
}

function isListeningPortSeen (ready: Told[]): boolean | undefined {
  const js = ready.filter(({ port }) => port != null)

  return js.length === 0 ? undefined : js.every(({ observed = [], port }) => observed.every((address: string) => address.split('/')[4] === `${port}`))
}

function isRelayed ({ lines }: Program): boolean {
  const count = (name: string): number => lines.filter(({ event }) => event === name).length

  return count('relayed') > count('relayed-closed')
}

function reasonsOf (side: Side, { lines }: Program): string[] {
  return lines.flatMap(({ event, reason }) => reason == null ? [] : [`${side} ${event}: ${reason}`])
}
