import type { KeyObject } from 'node:crypto'

interface KnownKey {
  bytes: Uint8Array
  object: KeyObject
}

/**
 * The KeyObject of each key that noise hands over as bytes. Noise keeps one array for each key and passes it with
 * every message, so that the array itself finds the KeyObject, which goes when the array does.
 *
 * The owner of an array may overwrite it, so its bytes are compared each time.
 */
export class KeyObjects {
  readonly #known = new WeakMap<Uint8Array, KnownKey>()
  readonly #create: (bytes: Uint8Array) => KeyObject

  constructor (create: (bytes: Uint8Array) => KeyObject) {
    this.#create = create
  }

  get (bytes: Uint8Array): KeyObject {
    const known = this.#known.get(bytes)

    if (known != null && Buffer.compare(known.bytes, bytes) === 0) {
      return known.object
    }

    const object = this.#create(bytes)
    this.set(bytes, object)

    return object
  }

  set (bytes: Uint8Array, object: KeyObject): void {
    this.#known.set(bytes, { bytes: Uint8Array.from(bytes), object })
  }
}
