/** A refused address must not make the others a flood of SYNs: the least time between two of them, in ms (RFC 8305) */
export const MIN_ATTEMPT_DELAY = 10

/** Where an address lies, as seen from this host */
export type Scope = 'public' | 'ours' | 'loopback' | 'private'

/** What the order of an address depends on */
export interface AddressFacts {
  /** 0 for what has none or leaves it open: a unix socket, a `/dns` name */
  family: 0 | 4 | 6
  scope: Scope

  /** This address was the last at which the peer was reached */
  worked: boolean

  /** It did not answer within the last ten minutes */
  wasSilent: boolean

  /** This host has no route to its family */
  isUnroutable: boolean
}

/** When an address is dialed if none of those before it has connected or failed, in ms */
export type Ranked<Address> = Address & { at: number }

/** IPv6 first (RFC 6724, section 2.1) */
const FAMILIES = [6, 4, 0] as const

/**
 * libp2p's sorter puts loopback addresses behind all others. A private address that is in no network of
 * ours is most likely in somebody else's, and silent.
 */
const TIERS: Record<Scope, number> = { public: 0, ours: 0, loopback: 1, private: 2 }

/**
 * The order in which the addresses of one peer are dialed, `limit` of them at most, and when. What is equal stays as it was, apart from
 * the families, which take turns: if one of them does not work, that costs one attempt (RFC 8305, section 4).
 */
export function rank <Address extends AddressFacts> (addresses: readonly Address[], delay: number, limit = Infinity): Array<Ranked<Address>> {
  const order = [...Map.groupBy(addresses, tierOf)]
    .sort(([one], [other]) => one - other)
    .flatMap(([, group]) => interleave(group))
    .slice(0, limit)
  const times = startTimes(order.length, delay)

  return order.map((address, i) => ({ ...address, at: times[i] }))
}

function tierOf ({ worked, wasSilent, isUnroutable, scope }: AddressFacts): number {
  if (worked) {
    return -1
  }

  return TIERS[scope] + (isUnroutable ? 10 : 0) + (wasSilent ? 100 : 0)
}

function interleave <Address extends AddressFacts> (addresses: Address[]): Address[] {
  const lists = FAMILIES.map(family => addresses.filter(address => address.family === family))
  const longest = Math.max(...lists.map(list => list.length))

  return Array.from({ length: longest }, (_, i) => lists.flatMap(list => list.slice(i, i + 1))).flat()
}

/**
 * When each of `count` attempts begins if none of those before has connected or failed, in ms: the first at once, the second
 * after `delay`. The others follow one another closely, as in go-libp2p, so that the last begins after twice the delay.
 *
 * @see https://github.com/libp2p/go-libp2p/blob/master/p2p/net/swarm/dial_ranker.go
 */
export function startTimes (count: number, delay: number): number[] {
  const gap = Math.min(MIN_ATTEMPT_DELAY, delay / count)

  return Array.from({ length: count }, (_, i) => i < 2 ? i * delay : 2 * delay - gap * (count - 1 - i))
}
