import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/** How often a listener looks whether a file descriptor is left for the next connection, in ms. */
const DESCRIPTOR_CHECK_INTERVAL = 1_000

export interface DescriptorWatchInit {
  /** No descriptor can be opened. `checks` counts the checks in a row that found none, this one included */
  onNone(checks: number): void

  /** There are some again */
  onFree(): void
}

/**
 * Reports when the process has no file descriptor left. Nobody else does: libuv keeps
 * one in reserve, and uses it to accept and close every connection that comes in then.
 * Neither Node nor the peer learns why.
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

  start (): void {
    this.#timer ??= setInterval(() => { this.#check() }, DESCRIPTOR_CHECK_INTERVAL).unref()
  }

  stop (): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check (): void {
    if (isNoneLeft()) {
      this.#init.onNone(++this.#checksInVain)
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
