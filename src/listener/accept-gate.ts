import type { CloseServerOnMaxConnectionsOpts } from '../options.ts'

/**
 * Decides by the number of connections whether a listener should accept more:
 * it shuts at `closeAbove` and opens again below `listenBelow`.
 */
export class AcceptGate {
  readonly #limits?: CloseServerOnMaxConnectionsOpts
  #isShut = false

  constructor (limits?: CloseServerOnMaxConnectionsOpts) {
    this.#limits = limits
  }

  get isShut (): boolean {
    return this.#isShut
  }

  /** Tell the gate how many connections there are now */
  update (connections: number): void {
    if (this.#limits == null) {
      return
    }

    if (connections >= this.#limits.closeAbove) {
      this.#isShut = true
    } else if (connections < this.#limits.listenBelow) {
      this.#isShut = false
    }
  }
}
