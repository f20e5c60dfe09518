/** The value of a socket option as the kernel takes it: C's `int` in the byte order of this machine, or a string */
export function optionBytes (value: number | string): Uint8Array {
  return typeof value === 'number' ? new Uint8Array(Int32Array.of(value).buffer) : new TextEncoder().encode(value)
}
