import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'

/** A UDP socket has to be connected to some port, and sends nothing by that */
const DISCARD = 9

/**
 * The source address of the route to an IP address, or `undefined` if there is no route
 */
export async function sourceAddress (target: string, signal: AbortSignal): Promise<string | undefined> {
  const socket = dgram.createSocket(net.isIPv6(target) ? 'udp6' : 'udp4')

  // where the signal ends the wait, an error may still come
  socket.on('error', () => {})

  try {
    socket.connect(DISCARD, target)
    await once(socket, 'connect', { signal })

    return socket.address().address
  } catch {
    return undefined
  } finally {
    socket.close()
  }
}
