import { readdirSync } from 'node:fs'
import { AF_INET, AF_INET6 } from './libc.ts'
import { socketAddress } from './socket-address.ts'
import type { Libc } from './libc.ts'
import type { Socket } from 'node:net'

/** `struct sockaddr_in6` */
const ADDRESS_BYTES = 28

/** Where the parts of `struct sockaddr_in` and `sockaddr_in6` begin */
const PORT = 2
const IP4 = 4
const IP6 = 8
const IP6_END = 24

/** How many descriptors are looked at in one search */
const MAX_SEARCHED = 4_000

/** Both addresses of a connection over IP, as text that can be compared: no two connections of a host have the same */
export type Ends = string

/**
 * The descriptors of sockets. Node has no public API for those of sockets that it has accepted. So a
 * search compares the addresses of both ends.
 *
 * A number belongs to another file once its socket is closed. So use it only if the socket is not destroyed, and before
 * the caller returns to the event loop. One that was searched for has to be checked each time by {@link isOf}.
 */
export class Descriptors {
  readonly #libc: Libc
  readonly #buffer = Buffer.alloc(ADDRESS_BYTES)

  /** Where the last search ended */
  #cursor = -1

  constructor (libc: Libc) {
    this.#libc = libc
  }

  /**
   * The connections among the open files of this process, without the `known` ones. A process that has too many is
   * searched in turns: one call for each part.
   */
  search (known: Set<number>): Map<Ends, number> {
    const others = openFiles().filter(fd => !known.has(fd))
    const rest = others.filter(fd => fd > this.#cursor)
    const part = (others.length <= MAX_SEARCHED || rest.length === 0 ? others : rest).slice(0, MAX_SEARCHED)
    const found = new Map<Ends, number>()

    this.#cursor = part.at(-1) ?? -1

    for (const fd of part) {
      const ends = this.ends(fd)

      if (ends != null) {
        found.set(ends, fd)
      }
    }

    return found
  }

  /** What {@link isOf} compares */
  peer (fd: number): Uint8Array {
    const length = this.#libc.getAddress(fd, 'peer', this.#buffer)

    return Uint8Array.from(this.#buffer.subarray(0, Math.max(length, 0)))
  }

  /** Whether the descriptor is still that of a connection to this peer */
  isOf (fd: number, peer: Uint8Array): boolean {
    const length = this.#libc.getAddress(fd, 'peer', this.#buffer)

    return length === peer.byteLength && this.#buffer.compare(peer, 0, length, 0, length) === 0
  }

  /** Undefined if it is no connection over IP */
  ends (fd: number): Ends | undefined {
    const peer = this.#end(fd, 'peer')
    const own = peer == null ? undefined : this.#end(fd, 'own')

    return own == null || peer == null ? undefined : `${own}${peer}`
  }

  #end (fd: number, end: 'own' | 'peer'): string | undefined {
    const length = this.#libc.getAddress(fd, end, this.#buffer)

    return length > 0 ? endText(this.#buffer) : undefined
  }
}

/** As {@link Descriptors.ends} has them. Undefined for a unix socket, and for one that was closed before it was asked */
export function endsOf ({ localAddress, localPort, remoteAddress, remotePort }: Socket): Ends | undefined {
  if (localAddress == null || localPort == null || remoteAddress == null || remotePort == null) {
    return
  }

  return `${addressText(localAddress, localPort)}${addressText(remoteAddress, remotePort)}`
}

function addressText (host: string, port: number): string | undefined {
  const { bytes } = socketAddress(host, port)

  return endText(Buffer.from(bytes.buffer))
}

/** The port and the address, without the zone and what else the structure holds. Undefined for other families than IP */
function endText (bytes: Buffer): string | undefined {
  switch (bytes[0]) {
    case AF_INET: return bytes.toString('latin1', PORT, PORT + 2) + bytes.toString('latin1', IP4, IP6)
    case AF_INET6: return bytes.toString('latin1', PORT, PORT + 2) + bytes.toString('latin1', IP6, IP6_END)
    default: return undefined
  }
}

/** In ascending order. None where /proc is not mounted */
function openFiles (): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number).sort((a, b) => a - b)
  } catch {
    return []
  }
}
