import { join } from 'node:path'
import tests from '@libp2p/interface-compliance-tests/transport'
import { TCP, Unix } from '@multiformats/multiaddr-matcher'
import { cleanUpAfterAll, temporaryDirectory } from '../fixtures/cleanup.ts'
import { hasUnixSockets } from '../fixtures/machine.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { tcp } from '../fixtures/transport.ts'
import type { MultiaddrMatcher } from '@multiformats/multiaddr-matcher'

function compliance (listen: () => string[], matcher: MultiaddrMatcher): void {
  tests({
    async setup () {
      const dialer = {
        transports: [tcp()],
        connectionMonitor: { enabled: false }
      }

      return {
        dialer,
        listener: {
          ...dialer,
          addresses: { listen: listen() }
        },
        dialMultiaddrMatcher: matcher,
        listenMultiaddrMatcher: matcher
      }
    },
    async teardown () {}
  })
}

describe('transport compliance over IPv4', () => {
  compliance(() => ['/ip4/127.0.0.1/tcp/0', '/ip4/127.0.0.1/tcp/0'], TCP)
})

describe('transport compliance over IPv6 (with THOROUGH=true)', () => {
  skipUnless(isThorough)

  compliance(() => ['/ip6/::1/tcp/0', '/ip6/::1/tcp/0'], TCP)
})

describe('transport compliance over a unix socket, which Windows lacks (with THOROUGH=true)', () => {
  skipUnless(isThorough && hasUnixSockets)

  const defer = cleanUpAfterAll()
  let dir: string
  let sockets = 0

  before(async () => {
    dir = await temporaryDirectory(defer)
  })

  function unixSocket (): string {
    return `/unix/${encodeURIComponent(join(dir, `${sockets++}.sock`))}`
  }

  compliance(() => [unixSocket(), unixSocket()], Unix)
})
