/** How much memory is taken at a time for copies of small messages, shared by all connections of the process, in bytes */
const SLAB_BYTES = 64 * 1024

/** A run does not begin where there is less memory left than this, in bytes */
const SMALLEST_ROOM = 16 * 1024

let slab = new Uint8Array(0)
let slabUsed = 0

/**
 * Copies of buffers that lie behind each other, so that they leave as one. The
 * memory is never used again, hence whoever gets it may keep it.
 */
export class CopyRun {
  readonly #memory: Uint8Array
  readonly #start: number
  #end: number

  /** @param bytes - less than 64 KiB */
  constructor (bytes: Uint8Array) {
    if (slab.byteLength - slabUsed < Math.max(bytes.byteLength, SMALLEST_ROOM)) {
      slab = new Uint8Array(SLAB_BYTES)
      slabUsed = 0
    }

    this.#memory = slab
    this.#start = this.#end = slabUsed
    this.#append(bytes)
  }

  /** @returns whether there was room right behind what is there */
  append (bytes: Uint8Array): boolean {
    if (this.#memory !== slab || this.#end !== slabUsed || slab.byteLength - slabUsed < bytes.byteLength) {
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
    slab.set(bytes, slabUsed)
    slabUsed += bytes.byteLength
    this.#end = slabUsed
  }
}
