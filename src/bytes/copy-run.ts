import type { Uint8ArrayList } from 'uint8arraylist'

/** Buffers below this size are copied, in bytes: that costs less than to hand each over by itself */
export const COPY_BYTES = 4 * 1024
/** How much memory is taken at a time for copies, in bytes, unless one needs more */
const SLAB_BYTES = 64 * 1024

/** A run does not begin where less memory is left than this, in bytes */
const SMALLEST_ROOM = 16 * 1024

/** Memory that the runs of many connections share. No part of it is used twice, so a run's bytes stay valid */
export interface Slab {
  bytes: Uint8Array
  used: number
}

/** A run can grow only until another one begins in the same slab */
export function newSlab (): Slab {
  return { bytes: new Uint8Array(0), used: 0 }
}

/**
 * Copies buffers one behind the other, so that they leave as one
 */
export class CopyRun {
  readonly #slab: Slab
  readonly #memory: Uint8Array
  readonly #start: number
  #end: number

  constructor (slab: Slab, bytes: Uint8Array) {
    if (slab.bytes.byteLength - slab.used < Math.max(bytes.byteLength, SMALLEST_ROOM)) {
      slab.bytes = new Uint8Array(Math.max(bytes.byteLength, SLAB_BYTES))
      slab.used = 0
    }

    this.#slab = slab
    this.#memory = slab.bytes
    this.#start = this.#end = slab.used
    this.#append(bytes)
  }

  /** @returns whether there was room right behind what is there */
  append (bytes: Uint8Array): boolean {
    const slab = this.#slab

    if (this.#memory !== slab.bytes || this.#end !== slab.used || this.#memory.byteLength - this.#end < bytes.byteLength) {
      return false
    }

    this.#append(bytes)

    return true
  }

  get bytes (): Uint8Array {
    return this.#memory.subarray(this.#start, this.#end)
  }

  get byteLength (): number {
    return this.#end - this.#start
  }

  #append (bytes: Uint8Array): void {
    this.#memory.set(bytes, this.#end)
    this.#end += bytes.byteLength
    this.#slab.used = this.#end
  }
}

/** `slice` of a Buffer would be no copy */
export function copyOf (data: Uint8Array | Uint8ArrayList): Uint8Array {
  return data instanceof Uint8Array ? new Uint8Array(data) : data.slice()
}
