/* eslint-disable no-console */
/*
 * What `createCipheriv` takes with a key of bytes, which is what Noise has, and with a KeyObject of the same bytes. Node 24.21 tries a
 * key of bytes as two kinds of object first, and catches an exception from each.
 */
import { createCipheriv, createSecretKey } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { KeyObject } from 'node:crypto'

const CALLS = 20_000
const bytes = new Uint8Array(32)
const keys: Record<string, Uint8Array | KeyObject> = { bytes, KeyObject: createSecretKey(bytes) }

for (const name of [...Object.keys(keys), ...Object.keys(keys)]) {
  const started = performance.now()

  for (let call = 0; call < CALLS; call++) {
    createCipheriv('chacha20-poly1305', keys[name], new Uint8Array(12), { authTagLength: 16 })
  }

  console.info('Node %s, %s: %s us', process.version, name, ((performance.now() - started) / CALLS * 1_000).toFixed(1))
}
