import { UnsupportedProtocolError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { encodeProposal } from './codec.ts'
import { ExpectedReply } from './expected-reply.ts'
import type { AbortOptions, MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * What came of a proposal:
 * - `accepted`: the reply was as presumed and is taken out of the stream
 * - `refused`: it was another one, or the peer sent FIN before it was whole;
 * the stream is aborted with an UnsupportedProtocolError
 * - `unanswered`: the stream was closed or reset before the reply was whole
 */
export type ProposalOutcome = 'accepted' | 'refused' | 'unanswered'

/**
 * A message stream whose incoming data passes through public methods, as it
 * does in all that extend AbstractMessageStream of `@libp2p/utils`. They are
 * not part of the interface, so this is tested before it is relied on.
 */
export interface FilterableStream extends MessageStream {
  onData(data: Uint8Array | Uint8ArrayList): void
  onRemoteCloseWrite(): void

  /** Where the two directions are closed one by one, as those of AbstractStream are */
  sendCloseWrite?(options?: AbortOptions): Promise<void>
}

const FILTERED = ['onData', 'onRemoteCloseWrite', 'sendCloseWrite'] as const

/** Whether the incoming data of a stream can be filtered, and nobody else does */
export function isFilterable (stream: MessageStream): stream is FilterableStream {
  return (['onData', 'onRemoteCloseWrite'] as const).every(method => {
    return typeof (stream as FilterableStream)[method] === 'function'
  }) && !FILTERED.some(method => Object.hasOwn(stream, method))
}

/**
 * Propose a protocol on a stream without waiting for the reply: whatever is
 * sent next follows at once. The reply is verified and taken out of the
 * incoming data when it comes; from then on nothing stands in the way of the
 * stream.
 *
 * Only the end of what is written waits for the reply: js-libp2p listeners that
 * receive it before they have chosen the handler reset the stream, because they
 * cannot put back what came behind the proposal.
 */
export function propose (stream: FilterableStream, protocol: string, onOutcome: (outcome: ProposalOutcome) => void): void {
  const proposal = encodeProposal(protocol)
  const reply = new ExpectedReply(proposal)
  const settled = Promise.withResolvers<void>()

  const settle = (outcome: ProposalOutcome): void => {
    stream.removeEventListener('close', onClose)
    // back to the methods of the class
    FILTERED.forEach(method => Reflect.deleteProperty(stream, method))
    settled.resolve()
    onOutcome(outcome)
  }

  const refuse = (reason: string): void => {
    settle('refused')
    stream.abort(new UnsupportedProtocolError(`Optimistic negotiation of ${protocol} failed: ${reason}`))
  }

  const onClose = (): void => {
    settle('unanswered')
  }

  stream.onData = data => {
    const replyBytes = receive(reply, data)

    if (reply.state === 'verified') {
      settle('accepted')
      stream.onData(data instanceof Uint8Array ? data.subarray(replyBytes) : data.sublist(replyBytes))
    } else if (reply.state === 'refused') {
      // nothing that follows is for anybody
      stream.onData = () => {}
      // let the muxer finish with the frame first
      queueMicrotask(() => { refuse('the peer refused it') })
    }
  }

  stream.onRemoteCloseWrite = () => {
    // muxers may tell of the end before they hand over the data of the same frame
    queueMicrotask(() => {
      if (reply.state === 'awaiting') {
        reply.end()
        refuse('the peer closed the stream before it replied')
      } else if (reply.state === 'verified') {
        stream.onRemoteCloseWrite()
      }
    })
  }

  const sendCloseWrite = stream.sendCloseWrite?.bind(stream)

  if (sendCloseWrite != null) {
    stream.sendCloseWrite = async options => {
      const sent = settled.promise.then(async () => {
        if (stream.status === 'open') {
          await sendCloseWrite(options)
        }
      })
      // the signal ends the wait of whoever closes, not the close
      sent.catch(() => {})

      return raceSignal(sent, options?.signal)
    }
  }

  stream.addEventListener('close', onClose)

  try {
    stream.send(proposal)
  } catch (err) {
    settle('unanswered')
    throw err
  }
}

/** @returns how many of the bytes are part of the reply */
function receive (reply: ExpectedReply, data: Uint8Array | Uint8ArrayList): number {
  let replyBytes = 0

  for (const bytes of data instanceof Uint8Array ? [data] : data) {
    const rest = reply.receive(bytes)
    replyBytes += bytes.byteLength - rest.byteLength

    if (reply.state !== 'awaiting') {
      break
    }
  }

  return replyBytes
}
