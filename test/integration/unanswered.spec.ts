import { expect } from 'aegir/chai'
import { createLibp2p } from 'libp2p'
import { readToEnd, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { stack } from '../lab/stacks.ts'

const PROTOCOL = '/test/question/1.0.0'

/** How a node ends the connections on which it was asked something. Streams that it has answered in part, or closed, end as on js-yamux */
const answers: Record<string, { answer: string[], closes?: boolean, isWhole: boolean }> = {
  'was not answered': { answer: [], isWhole: false },
  'was answered': { answer: ['yes'], isWhole: true },
  'was answered by the end of the stream': { answer: [], closes: true, isWhole: true }
}

describe('a question on a connection that the other end closes', () => {
  const defer = cleanUpAfterEach()

  for (const asker of ['ours', 'official'] as const) {
    for (const [how, { answer, closes = false, isWhole }] of Object.entries(answers)) {
      it(`${isWhole ? 'ends well' : 'fails'} if it ${how}, asked by ${asker}`, async () => {
        const [asking, asked] = await Promise.all([
          createLibp2p(stack(asker)),
          createLibp2p({ ...stack('ours'), addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] } })
        ])
        let hasHeard = false

        defer(async () => { await Promise.all([asking.stop(), asked.stop()]) })
        await asked.handle(PROTOCOL, async stream => {
          stream.addEventListener('message', () => { hasHeard = true })
          answer.forEach(text => { stream.send(new TextEncoder().encode(text)) })

          if (closes) {
            await stream.close()
          }
        })

        const stream = await asking.dialProtocol(asked.getMultiaddrs(), PROTOCOL)
        const reading = readToEnd(stream)

        reading.catch(() => {})
        stream.send(Uint8Array.of(1))
        await stream.close()
        await until(() => hasHeard, 'the question has come')
        await asked.getConnections()[0].close()

        if (isWhole) {
          expect(await reading).to.deep.equal(tally(new TextEncoder().encode(answer.join(''))))
        } else {
          await expect(reading).to.eventually.be.rejected.with.property('name', 'StreamResetError')
        }
      })
    }
  }
})
