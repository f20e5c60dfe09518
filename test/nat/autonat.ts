import { runProgram } from '../lab/process/program.ts'
import { scriptPath } from '../lab/script-path.ts'
import { openLab } from './lab/lab.ts'
import { FORWARDED_PORT } from './lab/nat.ts'
import type { NatKind } from './lab/nat.ts'
import type { Program } from '../lab/process/program.ts'
import type { Verdict } from '../lab/suite.ts'

export interface AutonatCase {
  name: string
  nat: NatKind

  /** The client has had a connection from its listening port to each server, and asks over another one */
  warm: boolean
  isReachable: boolean
}

export const AUTONAT_CASES: AutonatCase[] = [
  { name: 'the NAT forwards the port', nat: 'forward', warm: false, isReachable: true },
  { name: 'the NAT forwards nothing', nat: 'masquerade', warm: false, isReachable: false },
  { name: 'the NAT forwards nothing, and the client has visited the servers from its listening port', nat: 'masquerade', warm: true, isReachable: false },
  // a dial from the server's listening port would come through (libp2p/specs#562)
  { name: 'the same, and the NAT lets in whom it has sent to', nat: 'restricted', warm: true, isReachable: false }
]

/** AutoNAT asks for four that agree, each in another /8 */
const SERVERS = ['46.0.0.1', '47.0.0.1', '48.0.0.1', '49.0.0.1', '50.0.0.1']
const OBSERVER = '45.0.0.1'
const TIMEOUT = 30_000

/** A js client behind a NAT asks js servers with `reusePort` whether its address is reachable */
export async function runAutonat (init: AutonatCase, signal: AbortSignal): Promise<Verdict> {
  const lab = await openLab({ nats: { a: init.nat, b: 'masquerade' }, delay: 0 }, SERVERS)
  const peers: Program[] = []
  const start = (place: 'relay' | 'a', args: string[]): Program => {
    const peer = runProgram(lab.commandAt(place, [process.execPath, scriptPath(import.meta.url, 'peers/js/autonat'), ...args]), { signal })
    peers.push(peer)

    return peer
  }

  try {
    const servers = start('relay', ['servers', '--hosts', SERVERS.join(), '--observer', OBSERVER])
    const { addresses = [] } = await servers.until(({ event }) => event === 'listening', TIMEOUT)
    const client = start('a', [
      'client', '--listen', `/ip4/0.0.0.0/tcp/${FORWARDED_PORT}`,
      '--servers', addresses.slice(0, -1).join(), '--observer', `${addresses.at(-1)}`, ...init.warm ? ['--warm'] : []
    ])
    const dialedBack = (): boolean[] => servers.lines.flatMap(({ event, ok }) => event === 'dialed-back' ? [ok === true] : [])

    await servers.until(() => dialedBack().length >= SERVERS.length, TIMEOUT)
    // the client first waits for the answers that are on their way
    client.write('announced')
    const { addresses: announced = [] } = await client.until(({ event }) => event === 'announced', TIMEOUT)

    const came = dialedBack().filter(ok => ok).length
    const isAnnounced = announced.some((address: string) => address.startsWith(`/ip4/${lab.publicHosts.a}/`))

    return {
      summary: `${came} of ${dialedBack().length} dialed back, the address is ${isAnnounced ? '' : 'not '}announced`,
      complaints: isAnnounced === init.isReachable && (came > 0) === init.isReachable ? [] : ['it was to be the other way round']
    }
  } finally {
    await Promise.all(peers.map(async peer => peer.end()))
    await lab.close()
  }
}
