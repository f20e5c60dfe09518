import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { DESCRIPTOR_CHECK_INTERVAL } from '../constants.ts'

export interface DescriptorWatchInit {
  /** There is none to be had, now and at the checks before, of which there were so many with this one */
  onNone(checks: number): void

  /** There are some again */
  onFree(): void
}

/**
 * Tells when the process has no file descriptor left. Nobody else does: libuv
 * keeps one in reserve, with which it accepts and closes every connection that
 * comes in then, and neither Node nor the peer hears why.
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
