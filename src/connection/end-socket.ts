import { setImmediate } from '../event-loop/immediate.ts'
import type { Socket } from 'node:net'

const NOTHING = new Uint8Array()

/**
 * Until 1.52 libuv took a reset for FIN, where it came with the last data or the data had waited
 * to be read.
 *
 * @see https://github.com/libuv/libuv/pull/4997
 */
const MISTAKES_RESET_FOR_FIN = isLibuvBefore(1, 52)

/**
 * Whether the kernel has everything that was written, and FIN, or is about to get it. Node
 * emits 'finish' only after the kernel has taken FIN.
 */
export function isFinishing ({ destroyed, writableEnded, writableFinished, writableLength }: Socket): boolean {
  // nothing waits in a destroyed socket either: it is lost
  return writableFinished || (writableEnded && writableLength === 0 && !destroyed)
}

/**
 * Makes the socket emit 'error' if the peer has reset it. Node hides an RST on a socket that
 * is not read, because it is paused or the peer has sent FIN before. An empty write reveals it.
 */
export function probe (socket: Socket): void {
  if (socket.writable && socket.writableLength === 0) {
    socket.write(NOTHING)
  }
}

/**
 * Call back after 'end', unless what looks like FIN is a reset: then the socket emits 'error'
 * before.
 */
export function whenFinIsCertain (socket: Socket, callback: () => void): void {
  if (MISTAKES_RESET_FOR_FIN && !socket.destroyed) {
    probe(socket)
    // a write that was under way has failed by then, too
    setImmediate(callback)
  } else {
    callback()
  }
}

/**
 * Close at once, and reset the peer. There is no RST on pipes, and none without a peer.
 */
export function reset (socket: Socket): void {
  if (socket.remoteAddress == null) {
    socket.destroy()
  } else {
    socket.resetAndDestroy()
  }
}

/**
 * Close at once. If that loses some of what was written, reset the peer. Otherwise it would
 * mistake truncated data for a complete message.
 */
export function cut (socket: Socket): void {
  if (socket.writableLength > 0) {
    reset(socket)
  } else {
    socket.destroy()
  }
}

function isLibuvBefore (major: number, minor: number): boolean {
  const { uv, bun, deno } = process.versions
  const [thisMajor, thisMinor] = `${uv}`.split('.').map(Number)

  // they name a version, and have no libuv
  return bun == null && deno == null && (thisMajor < major || (thisMajor === major && thisMinor < minor))
}
