import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/** How long after a connection a listener looks whether a file descriptor is left for the next one, and how often while none is, in ms */
const LOOK_DELAY = 1_000

export interface DescriptorWatchInit {
  /** No descriptor can be opened. `checks` counts the checks in a row that found none, this one included */
  onNone(checks: number): void

  /** There are some again */
  onFree(): void
}

/**
 * Reports when the process has no file descriptor left. Nobody else does: libuv keeps
 * one in reserve, and uses it to accept and close every connection that comes in then.
 * Neither Node nor the peer learns why. While no connection comes it costs nothing.
 *
 * @see https://github.com/libuv/libuv/blob/v1.x/src/unix/stream.c (uv__emfile_trick)
 */
export class DescriptorWatch {
  readonly #init: DescriptorWatchInit
  #timer?: NodeJS.Timeout
  #checksInVain = 0

  constructor (init: DescriptorWatchInit) {
    this.#init = init
  }

  /** A connection was accepted. It may have taken the last one */
  lookLater (): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#look()
    }, LOOK_DELAY).unref()
  }

  stop (): void {
    clearTimeout(this.#timer)
  }

  #look (): void {
    if (isNoneLeft()) {
      this.#init.onNone(++this.#checksInVain)
      this.lookLater()
    } else if (this.#checksInVain > 0) {
      this.#checksInVain = 0
      this.#init.onFree()
    }
  }
}

function isNoneLeft (): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return false
  } catch (err: any) {
    return err.code === 'EMFILE' || err.code === 'ENFILE'
  }
}
