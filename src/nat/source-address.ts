import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'

/** To connect a UDP socket needs a port, and sends nothing */
const DISCARD = 9

/**
 * The source address of the route to an IP address, or `undefined` if there is no route
 */
export async function sourceAddress (target: string, signal: AbortSignal): Promise<string | undefined> {
  const socket = dgram.createSocket(net.isIPv6(target) ? 'udp6' : 'udp4')

  // an error may still come after the signal has ended the wait
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
