import type { Channel } from '../../../test/lab/peers/contender.ts'

/**
 * Sends messages one after another for as long as the channel takes them, and
 * goes on when it has drained.
 */
export function sendAll (channel: Channel, count: number, message: (index: number) => Uint8Array): void {
  let index = 0
  let state: 'sending' | 'drained' | 'waiting' = 'waiting'

  const sendSome = (): void => {
    // a channel may drain while it is being sent to
    if (state !== 'waiting') {
      state = 'drained'
      return
    }

    do {
      state = 'sending'

      while (index < count) {
        if (!channel.send(message(index++))) {
          break
        }
      }
    } while (state as string === 'drained' && index < count)

    state = 'waiting'
  }

  channel.onDrain = sendSome
  sendSome()
}
