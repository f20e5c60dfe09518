import { raceSignal } from 'race-signal'
import { setImmediate } from '../event-loop/immediate.ts'
import { Proposal } from '../optimistic/proposal.ts'
import { reasonFor } from '../optimistic/when-to-propose.ts'
import type { YamuxSettings } from './settings.ts'
import type { YamuxStream } from './stream.ts'
import type { KnownProtocols } from '../optimistic/known-protocols.ts'
import type { ProposalOutcome } from '../optimistic/proposal.ts'
import type { HandlerLimits } from '../optimistic/protocol-limit.ts'
import type { CreateOptions, Reason } from '../optimistic/when-to-propose.ts'
import type { StreamMuxer } from '@libp2p/interface'

/** What the muxers of a node share to decide what is proposed */
export interface ProposingInit {
  settings: YamuxSettings

  /** Undefined if nothing tells what peers speak */
  known?: KnownProtocols
  handlers(): HandlerLimits | undefined
  onOutcome(outcome: ProposalOutcome): void
}

/** The streams of a muxer whose protocol is proposed: when, and what becomes of that */
export class Proposing {
  readonly #muxer: StreamMuxer<any>
  readonly #init: ProposingInit

  /** Those whose FIN has not left yet. Exists only with one */
  #streams?: Set<YamuxStream>

  constructor (muxer: StreamMuxer<any>, init: ProposingInit) {
    this.#muxer = muxer
    this.#init = init
  }

  reasonFor (options: CreateOptions): Reason {
    const { known, handlers, settings } = this.#init

    if (!settings.optimistic) {
      return options.protocol == null ? 'several' : 'told'
    }

    return reasonFor(options, {
      streams: this.#muxer.streams,
      isKnown: protocol => known?.has(this.#muxer, protocol) === true,
      handlers
    })
  }

  /** libp2p negotiates the protocol of the stream: learn what the peer speaks */
  watch (stream: YamuxStream): void {
    this.#init.known?.watch(this.#muxer, stream)
  }

  propose (stream: YamuxStream, protocol: string, signal?: AbortSignal): void {
    const { known, onOutcome, settings } = this.#init
    const muxer = this.#muxer
    const wasStored = known?.has(muxer, protocol) === true ? undefined : known?.wasStored(muxer, protocol)

    this.#streams = (this.#streams ?? new Set()).add(stream)
    stream.propose(new Proposal({
      protocol,
      replyTimeout: settings.replyTimeout,
      signal,
      // as long as libp2p's own dialer awaits its peer store before the application has the stream, and a turn longer
      settle: async () => {
        await known?.store(muxer, protocol)
        await new Promise<void>(resolve => { setImmediate(resolve) })
      },
      onFailed: error => { stream.fail(error) },
      onFinChange: () => { stream.onFinChange() },
      onOutcome: outcome => {
        stream.log('proposal of %s was %s', protocol, outcome)
        onOutcome(outcome)

        if (outcome === 'accepted') {
          known?.add(muxer, protocol)
        } else if (outcome === 'refused') {
          known?.revoke(muxer, protocol, wasStored)
        } else if (outcome === 'unanswered') {
          known?.doubt(muxer, protocol)
        }
      }
    }))
  }

  /**
   * Streams of the protocol that were closed before the peer has replied. They count at the peer until their FIN has left,
   * and its limit, which we do not know, may be one
   */
  heldFor (protocol?: string): YamuxStream[] {
    return [...this.#streams ?? []].filter(stream => stream.isFinHeld && stream.proposal?.protocol === protocol)
  }

  /** Wait until their FIN has left, or never will */
  async finsLeft (held: YamuxStream[], signal?: AbortSignal): Promise<void> {
    await raceSignal(Promise.all(held.map(async stream => stream.closeWrite())), signal)
  }

  /** Let the FIN of each stream leave, although the peer has not replied */
  allowFins (): void {
    this.#streams?.forEach(({ proposal }) => { proposal?.allowFin() })
  }

  /** The FIN of the stream has left, or never will */
  onFinLeft (stream: YamuxStream): void {
    this.#streams?.delete(stream)

    if (this.#streams?.size === 0) {
      // an empty one takes 350 bytes
      this.#streams = undefined
    }
  }
}
