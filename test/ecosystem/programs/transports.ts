import { identify } from '@libp2p/identify'
import { webRTCDirect } from '@libp2p/webrtc'
import { webSockets } from '@libp2p/websockets'
import { echoOver, handleEcho } from './echo.ts'
import { deadline } from './lab.ts'
import type { Facts, Lab } from './lab.ts'

const ADDRESSES = {
  tcp: '/ip4/127.0.0.1/tcp/0',
  ws: '/ip4/127.0.0.1/tcp/0/ws',
  'webrtc-direct': '/ip4/127.0.0.1/udp/0/webrtc-direct'
}

/** TCP beside WebSockets and WebRTC-direct: each address must be dialed by the transport that it belongs to */
export default async function run (lab: Lab): Promise<Facts> {
  const create = async (listen: string[]): ReturnType<Lab['node']> => lab.node({
    addresses: { listen },
    transports: [webSockets(), webRTCDirect()],
    services: { identify: identify() }
  })
  const listener = await create(Object.values(ADDRESSES))
  const dialer = await create([])
  const facts: Facts = {}

  await handleEcho(listener)

  for (const name of Object.keys(ADDRESSES)) {
    const ma = listener.getMultiaddrs().find(ma => ma.getComponents().filter(({ name }) => name !== 'p2p' && name !== 'certhash').at(-1)?.name === name)

    if (ma == null) {
      throw new Error(`The listener has no address of ${name}: ${listener.getMultiaddrs().join(', ')}`)
    }

    for (let i = 0; i < lab.amount(5, 1); i++) {
      const signal = deadline(60_000)
      // the listener's answers over UDP are of no interest to the times of TCP
      const measure: Lab['measure'] = name === 'tcp' ? async part => lab.measure(part) : async part => part()

      await measure(async () => {
        const connection = await dialer.dial(ma, { signal })
        facts[name] = await echoOver(connection, i, name === 'webrtc-direct' ? 262_144 : lab.amount(16, 2) * 1_048_576)
        await connection.close()
      })
    }
  }

  return facts
}
