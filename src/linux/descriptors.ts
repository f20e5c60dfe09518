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

/**
 * Finds the descriptors of sockets that Node has accepted, for which it has no public API: by
 * the addresses of both ends, which no two connections of a host share.
 */
export class Descriptors {
  readonly #libc: Libc
  readonly #buffer = Buffer.alloc(ADDRESS_BYTES)

  constructor (libc: Libc) {
    this.#libc = libc
  }

  /** The numbers of all open files of this process */
  all (): number[] {
    return readdirSync('/proc/self/fd').map(Number)
  }

  /**
   * Whether the descriptor is that of a connection with these ends. The answer holds until the
   * caller returns to the event loop, where Node closes descriptors.
   */
  isOf (fd: number, ends: string): boolean {
    return this.ends(fd) === ends
  }

  /** The addresses of both ends of a connection. Undefined if it is none over IP */
  ends (fd: number): string | undefined {
    const peer = this.#end(fd, 'peer')
    const own = peer == null ? undefined : this.#end(fd, 'own')

    return own == null || peer == null ? undefined : `${own}${peer}`
  }

  #end (fd: number, end: 'own' | 'peer'): string | undefined {
    const length = this.#libc.getAddress(fd, end, this.#buffer)

    return length > 0 ? endText(this.#buffer) : undefined
  }
}

/** The addresses of both ends, as {@link Descriptors.ends} has them. Undefined for a unix socket, and once it is closed */
export function endsOf ({ localAddress, localPort, remoteAddress, remotePort }: Socket): string | undefined {
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
