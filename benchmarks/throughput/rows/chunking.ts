import { FirstMessageCheck, patternOf } from './messages.ts'
import { Reassembly, toChunks } from './reassembly.ts'
import { KiB } from './row.ts'
import { sendAll } from './send-all.ts'
import type { TimedRow } from './row.ts'

const message = patternOf(200 * KiB)
const chunks = toChunks(message, 64 * KiB)

/** A large message there and back in chunks; each end puts them together. */
export const chunking: TimedRow = {
  name: 'chunking',
  title: '200 KiB round trip in chunks of 64 KiB',
  levels: ['connection', 'stream'],
  batch: 50,

  serve (channel) {
    const check = new FirstMessageCheck(message)
    const reassembly = new Reassembly(whole => {
      check.see(whole)
      sendAll(channel, chunks.length, index => chunks[index])
    })

    channel.onBytes = bytes => { reassembly.receive(bytes) }
  },

  async run ({ channel }, count) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = new FirstMessageCheck(message)
    let done = 0

    const reassembly = new Reassembly(whole => {
      check.see(whole)
      done++

      if (done === count) {
        resolve()
      } else {
        sendAll(channel, chunks.length, index => chunks[index])
      }
    })

    channel.onBytes = bytes => { reassembly.receive(bytes) }
    sendAll(channel, chunks.length, index => chunks[index])

    await promise
  }
}
