import os from 'node:os'
import { FIRST_WRITE_TIMEOUT, PlanError } from '../connector.ts'
import { withCause } from '../errors.ts'
import type { KernelState } from './tcp-info.ts'
import type { Establishing, EstablishingState, FastOpenOutcome, Target } from '../connector.ts'
import type { Socket } from 'node:net'

const NOTHING = new Uint8Array()

/**
 * Codes of a peer that accepted the connection and reset it at once, for example because it has
 * too many. Before it is accepted the kernel says ECONNREFUSED
 */
const RESET_CODES = ['ECONNRESET', 'EPIPE']

export interface FastOpenConnectInit {
  socket: Socket
  target: Target

  /** What the kernel knows of the socket. Undefined once Node has closed it */
  ask(): KernelState | undefined

  /** Sends a SYN that still waits for data, without data */
  sendSyn(): void
}

/**
 * A connect whose socket has emitted 'connect' while its SYN may wait for the first write.
 */
export class FastOpenConnect implements Establishing {
  readonly #init: FastOpenConnectInit
  readonly #timer?: NodeJS.Timeout
  #state: EstablishingState = 'pending'
  #outcome?: FastOpenOutcome
  #error?: Error

  /** Whether 'close' was emitted: `socket.closed` is true before */
  #isClosed = false

  constructor (init: FastOpenConnectInit) {
    const { socket } = init

    this.#init = init

    if (this.look() === 'pending') {
      this.#timer = setTimeout(this.#sendSynAtLast, FIRST_WRITE_TIMEOUT)
      socket.on('error', this.#onError)
      socket.once('close', this.#onClose)
    }
  }

  get outcome (): FastOpenOutcome | undefined {
    return this.#outcome
  }

  get error (): Error | undefined {
    return this.#error
  }

  look (): EstablishingState {
    if (this.#state !== 'pending') {
      return this.#state
    }

    const known = this.#init.ask()

    if (known?.isPending === false || this.#init.socket.bytesRead > 0) {
      this.#state = 'established'
      this.#outcome = known?.outcome
    }

    return this.#state
  }

  async settled (): Promise<void> {
    const { socket } = this.#init

    if (socket.destroyed) {
      // its error is still to come
      return this.#isClosed ? undefined : new Promise(resolve => { socket.once('close', () => { resolve() }) })
    }

    this.#sendSynAtLast()

    return new Promise(resolve => {
      // the kernel takes it once the connection is established
      socket.write(NOTHING, err => {
        if (err != null) {
          this.#onError(err)
        }

        resolve()
      })
    })
  }

  end (): void {
    const { socket } = this.#init

    clearTimeout(this.#timer)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
  }

  /** Nothing was written, so the SYN has not left */
  readonly #sendSynAtLast = (): void => {
    const { sendSyn, socket } = this.#init

    if (socket.bytesWritten === 0) {
      sendSyn()
    }
  }

  readonly #onClose = (): void => { this.#isClosed = true }

  readonly #onError = (err: NodeJS.ErrnoException): void => {
    const { socket, target } = this.#init

    if (err.errno === -os.constants.errno.EINPROGRESS) {
      // the peer may have answered the SYN by now
      this.#state = 'failed'
      this.#error = new PlanError('cookie-lost', 'The cookie of the peer is gone', err)
    } else if (this.#state === 'pending') {
      this.#state = socket.bytesRead > 0 ? 'established' : 'failed'
      this.#error = this.#state === 'failed' ? asConnectError(err, target) : undefined
    }
  }
}

/** The error that Node makes of a failed connect. This connect failed at a read or a write */
function asConnectError (err: NodeJS.ErrnoException, target: Target): NodeJS.ErrnoException {
  if (err.code == null || err.syscall == null || 'path' in target) {
    return err
  }

  const { host: address, port } = target
  // an ordinary connect of which the peer wants to hear nothing meets a reset, and never writes
  const { code, errno } = RESET_CODES.includes(err.code) ? { code: 'ECONNRESET', errno: -os.constants.errno.ECONNRESET } : err
  const message = `connect ${code} ${address}:${port}`

  return withCause(Object.assign(new Error(message), { code, errno, syscall: 'connect', address, port }), err)
}
