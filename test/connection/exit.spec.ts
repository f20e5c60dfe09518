import { expect } from 'aegir/chai'
import { securedPair } from '../encryption/fixtures/secured-pair.ts'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { collect, tally } from '../fixtures/bytes.ts'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { listenFor } from '../fixtures/exit-layers.ts'
import { rawPair } from '../fixtures/raw.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { closed, until } from '../fixtures/waiting.ts'
import type { SendAndExitOptions } from '../fixtures/children/send-and-exit.ts'
import type { ExitLayer } from '../fixtures/exit-layers.ts'
import type { MessageStream } from '@libp2p/interface'

const SENDS = 3
const BYTES = 100

const endings: Record<string, Pick<SendAndExitOptions, 'ending' | 'inWorker'>> = {
  'before process.exit()': { ending: 'process.exit' },
  "in an 'exit' handler": { ending: 'exit handler' },
  "in an 'exit' handler that is older than the connection": { ending: 'earlier exit handler' },
  "in an 'uncaughtException' handler": { ending: 'uncaughtException handler' },
  'before an uncaught exception': { ending: 'uncaught exception' },
  'before process.exit() of a worker thread': { ending: 'process.exit', inWorker: true },
  "in an 'exit' handler of a worker thread": { ending: 'exit handler', inWorker: true },
  'before an uncaught exception of a worker thread': { ending: 'uncaught exception', inWorker: true }
}

const layers: Record<string, ExitLayer> = {
  'an encrypted connection': 'noise',
  'a stream': 'stream',
  'an encrypted connection that has received a large message': 'noise, bulk',
  'a connection': 'tcp'
}

/** Each ending with one of the layers in turn, and with `THOROUGH=true` with all of them: each takes a process */
const cases = Object.entries(endings).flatMap(([when, ending], index) => Object.entries(layers)
  .filter((_, layer) => isThorough || layer === index % 4)
  .map(([what, layer]) => ({ title: `${what} ${when}`, layer, ending })))

describe('a process that exits', () => {
  const itAtOnce = testsAtOnce()

  for (const { title, layer, ending } of cases) {
    itAtOnce(`has delivered what was sent over ${title}`, async defer => {
      const { addr, next } = await listenFor(layer, defer)
      const child = runChild(defer, 'send-and-exit.ts', [addr, { ...ending, layer, sends: SENDS, bytes: BYTES }], {
        isQuiet: ending.ending === 'uncaught exception'
      })
      const stream = await next
      const received = collect(stream)

      // eight processes start at once, and each is slow to end on a machine that has other work
      await closed(stream, 40_000)
      await child.exited
      expect(received.result()).to.deep.equal(tally(Buffer.concat(Array.from({ length: SENDS }, (_, i) => Buffer.alloc(BYTES, i)))))
    })
  }
})

describe('a process that goes on', () => {
  const defer = cleanUpAfterEach()

  for (const [how, end] of Object.entries<(conn: MessageStream) => Promise<void>>({
    closed: async conn => conn.close(),
    aborted: async conn => { conn.abort(new Error('Urk!')) }
  })) {
    it(`keeps no 'exit' listener when all connections are ${how}`, async () => {
      const before = process.listenerCount('exit')
      const { dialer, acceptor } = await rawPair(defer)
      const secured = await securedPair(defer)
      const ends = [dialer, acceptor, secured.dialer.raw, secured.listener.raw].map(async conn => closed(conn))

      await end(dialer)
      await end(secured.dialer.stream)
      await Promise.all(ends)
      await until(() => process.listenerCount('exit') === before, 'no listener is left')
    })
  }
})
