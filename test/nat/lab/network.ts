import { exec } from '../../lab/link/exec.ts'
import { addNamespace, isKeeper, namespaceNames, removeNamespace } from '../../lab/link/namespaces.ts'
import { startCable } from '../../lab/link/relay.ts'
import { rulesOf } from './nat.ts'
import type { NatKind } from './nat.ts'
import type { Relay } from '../../lab/link/relay.ts'

export type Side = 'a' | 'b'
export type Place = 'relay' | Side

export interface NetworkShape {
  /** What stands between each side and the public network */
  nats: Record<Side, NatKind>

  /** One way between each NAT and the public network, in ms: the two sides are twice as far from each other */
  delay: number
}

export interface Network {
  namespaces: Record<Place, string>

  /** Of the relay's host */
  relayHost: string

  /** Where each side is seen by the public network */
  publicHosts: Record<Side, string>
}

const PREFIX = 'fasttcpnat'
const RELAY_HOST = '45.0.0.1'
const SUBNETS = { a: 1, b: 2 } as const
const SIDES: Side[] = ['a', 'b']

/**
 * Two hosts, each behind a router of its own, and a public network in which the relay's host and
 * both routers are. The addresses look public to libp2p: nothing leaves the namespaces.
 *
 * ```
 * a 10.1.0.2 -- 10.1.0.1 NAT 45.0.1.2 -- 45.0.1.1 \
 *                                                   relay 45.0.0.1
 * b 10.2.0.2 -- 10.2.0.1 NAT 45.0.2.2 -- 45.0.2.1 /
 * ```
 *
 * @throws {Error} with what is missing, if this machine cannot do that
 */
export async function makeNetwork (owner: number, { nats, delay }: NetworkShape, publicHosts: string[], cables: Relay[]): Promise<Network> {
  const name = (place: string): string => namespaceOf(owner, place)
  const relay = name('relay')

  exec('nft', '--version')
  addNamespace(relay)
  route(relay)

  for (const address of [RELAY_HOST, ...publicHosts]) {
    exec('ip', '-n', relay, 'addr', 'add', `${address}/32`, 'dev', 'lo')
  }

  for (const side of SIDES) {
    const router = name(`nat-${side}`)
    const host = name(side)
    const n = SUBNETS[side]
    const inside = nats[side] === 'none' ? `45.0.1${n}` : `10.${n}.0`

    addNamespace(router)
    addNamespace(host)
    route(router)

    const up: Cable = [{ namespace: relay, device: `down-${side}`, address: `45.0.${n}.1/24` }, { namespace: router, device: 'wan', address: `45.0.${n}.2/24` }]
    const down: Cable = [{ namespace: router, device: 'lan', address: `${inside}.1/24` }, { namespace: host, device: 'eth0', address: `${inside}.2/24` }]

    if (delay > 0) {
      cables.push(await startCable(unique(up, owner, side), { delay }))
    } else {
      join(up)
    }

    join(down)

    if (publicHosts.length > 0) {
      // what leaves the relay's host from no address in particular leaves from the first of them
      exec('ip', '-n', relay, 'route', 'replace', `45.0.${n}.0/24`, 'dev', up[0].device, 'src', publicHosts[0])
    }

    exec('ip', '-n', router, 'route', 'add', 'default', 'via', `45.0.${n}.1`)
    exec('ip', '-n', host, 'route', 'add', 'default', 'via', `${inside}.1`)

    if (nats[side] === 'none') {
      exec('ip', '-n', relay, 'route', 'add', `${inside}.0/24`, 'via', `45.0.${n}.2`)
    } else {
      exec('ip', 'netns', 'exec', router, 'nft', rulesOf(nats[side], { up: delay > 0 ? unique(up, owner, side)[1].device : 'wan', host: `${inside}.2` }))
    }
  }

  return {
    namespaces: { relay, a: name('a'), b: name('b') },
    relayHost: RELAY_HOST,
    publicHosts: { a: publicHost('a', nats.a), b: publicHost('b', nats.b) }
  }
}

export function namespaceOf (owner: number, place: string): string {
  return `${PREFIX}${owner}-${place}`
}

export function removeNetwork (owner: number): void {
  ourNamespaces().filter(name => name.startsWith(`${PREFIX}${owner}-`)).forEach(removeNamespace)
}

/** Remove those of owners that were killed before they could do it */
export function removeStaleNetworks (): void {
  const owners = ourNamespaces().map(name => Number(name.slice(PREFIX.length).split('-')[0]))

  new Set(owners.filter(owner => !isKeeper(owner))).forEach(removeNetwork)
}

type Cable = Parameters<typeof startCable>[0]

/** A TUN device is made outside of its namespace, where its name has to be unique */
function unique ([one, other]: Cable, owner: number, side: Side): Cable {
  return [{ ...one, device: `ft${owner}${side}d` }, { ...other, device: `ft${owner}${side}u` }]
}

function join ([one, other]: Cable): void {
  exec('ip', '-n', one.namespace, 'link', 'add', one.device, 'type', 'veth', 'peer', 'name', other.device, 'netns', other.namespace)

  for (const { namespace, device, address } of [one, other]) {
    exec('ip', '-n', namespace, 'addr', 'add', address, 'dev', device)
    exec('ip', '-n', namespace, 'link', 'set', 'dev', device, 'up')
  }
}

export function route (namespace: string): void {
  exec('ip', 'netns', 'exec', namespace, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')
}

function publicHost (side: Side, kind: NatKind): string {
  return kind === 'none' ? `45.0.1${SUBNETS[side]}.2` : `45.0.${SUBNETS[side]}.2`
}

function ourNamespaces (): string[] {
  return namespaceNames().filter(name => name.startsWith(PREFIX))
}
