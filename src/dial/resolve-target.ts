import dns from 'node:dns'
import net from 'node:net'
import { raceSignal } from 'race-signal'
import type { Endpoint } from '../addresses.ts'
import type { TCPDialSocketOptions } from '../options.ts'
import type { SocketOptions } from '../settings.ts'

/**
 * The IP address that a dial goes to: its family and scope must be known before the socket is
 * bound. Undefined for a unix socket, and for a name with addresses of both families, between
 * which Node chooses. Also if the look-up fails, which the dial then reports.
 */
export async function resolveTarget (endpoint: Endpoint, options: SocketOptions<TCPDialSocketOptions>, signal: AbortSignal): Promise<string | undefined> {
  if ('path' in endpoint) {
    return
  }

  const { host, family } = endpoint

  if (net.isIP(host) !== 0) {
    return host
  }

  const lookup = options.lookup ?? dns.lookup
  const { promise, resolve, reject } = Promise.withResolvers<string[]>()

  try {
    lookup(host, { family: family !== 0 ? family : options.family ?? 0, hints: options.hints, all: true }, (err, found: unknown) => {
      if (err != null) {
        reject(err)
      } else {
        // the caller's own look-up may ignore `all`
        resolve(Array.isArray(found) ? found.map(entry => entry?.address) : [`${found}`])
      }
    })

    const addresses = await raceSignal(promise, signal)

    const version = net.isIP(addresses[0])

    return version !== 0 && addresses.every(address => net.isIP(address) === version) ? addresses[0] : undefined
  } catch {
    return undefined
  }
}
