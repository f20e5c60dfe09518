import { openProxy } from './proxy.ts'
import type { LinkParts, LinkShape } from './link.ts'
import type { Proxy } from './proxy.ts'

const HOST = '127.0.0.1'

/** A link over loopback with a delaying TCP proxy for each port that is dialed. */
export function proxyLink ({ delay }: LinkShape): LinkParts {
  const proxies = new Map<number, Promise<Proxy>>()

  return {
    kind: 'proxy',
    title: 'proxy link: loopback through a delaying TCP proxy',
    hiddenRoundTrips: 1,
    listenHost: HOST,
    async dialAddress (port) {
      const proxy = proxies.get(port) ?? openProxy({ target: { host: HOST, port }, up: { delay }, down: { delay } })
      proxies.set(port, proxy)

      return proxy
    },
    commandAt: (end, command) => command,
    async close () {
      await Promise.all([...proxies.values()].map(async proxy => (await proxy).close()))
    }
  }
}

export function loopbackLink (): LinkParts {
  return {
    kind: 'loopback',
    title: 'loopback',
    hiddenRoundTrips: 0,
    listenHost: HOST,
    dialAddress: async port => ({ host: HOST, port }),
    commandAt: (end, command) => command,
    close: async () => {}
  }
}
