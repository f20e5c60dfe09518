import { FirstMessageCheck, patternOf } from './messages.ts'
import { Reassembly, toChunks } from './reassembly.ts'
import { KiB } from './row.ts'
import { sendAll } from './send-all.ts'
import type { Row } from './row.ts'

const BYTES = 200 * KiB
const CHUNK_BYTES = 64 * KiB

const message = patternOf(BYTES)
const chunks = toChunks(message, CHUNK_BYTES)

/** A large message there and back in chunks; each end puts them together. */
export const chunking: Row = {
  name: 'chunking',
  title: 'chunking: 200 KiB round trip in chunks of 64 KiB',
  bytes: BYTES,
  levels: ['connection', 'stream'],
  keepsConnection: true,
  published: { operationsPerSecond: 3_153 },

  serve (channel) {
    const check = new FirstMessageCheck(message)
    const reassembly = new Reassembly(whole => {
      check.see(whole)
      sendAll(channel, chunks.length, index => chunks[index])
    })

    channel.onBytes = bytes => { reassembly.receive(bytes) }
  },

  async run ({ channel }, count, onOperation) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = new FirstMessageCheck(message)
    let done = 0

    const reassembly = new Reassembly(whole => {
      check.see(whole)
      done++
      onOperation()

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
