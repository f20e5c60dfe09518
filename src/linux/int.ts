/*
 * C's `int` in memory, in the byte order of this machine
 */

export function fromInt (value: number): Uint8Array {
  return new Uint8Array(Int32Array.of(value).buffer)
}

/** The value of a socket option as the kernel takes it */
export function optionBytes (value: number | string): Uint8Array {
  return typeof value === 'number' ? fromInt(value) : new TextEncoder().encode(value)
}

export function toInt (bytes: Uint8Array): number {
  return new Int32Array(bytes.buffer, bytes.byteOffset, 1)[0]
}
