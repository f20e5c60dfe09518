import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { defaultCrypto } from '@libp2p/noise/crypto'
import { Uint8ArrayList } from 'uint8arraylist'
import { noiseCrypto } from '../src/index.ts'
import { say } from '../test/lab/process/say.ts'
import { median } from '../test/lab/statistics.ts'
import type { NoiseCrypto } from '../src/index.ts'

/*
 * Processor time that noise's own crypto and ours take for a message of a size, encrypted and decrypted, and for what one end
 * does in a handshake: `node benchmarks/noise-crypto.ts`
 */

const ROUNDS = 11
const SLICE = 40
const HEADER = new Uint8Array(12)
const NONCE = new Uint8Array(12)
const NO_BYTES = new Uint8Array()

/** As a muxer hands it over: frames with a header each */
function frames (size: number, count = 1): Uint8ArrayList {
  return new Uint8ArrayList(...Array.from({ length: count }, () => [HEADER, randomBytes(size)]).flat())
}

function message (plaintext: Uint8ArrayList): (crypto: NoiseCrypto) => void {
  const key = randomBytes(32)
  const ciphertext = defaultCrypto.chaCha20Poly1305Encrypt(plaintext, NONCE, NO_BYTES, key).subarray()

  return crypto => {
    crypto.chaCha20Poly1305Encrypt(plaintext, NONCE, NO_BYTES, key)
    crypto.chaCha20Poly1305Decrypt(ciphertext, NONCE, NO_BYTES, key)
  }
}

/** Three secrets, one of them with the key of the node, and the keys that follow from them */
function handshake (crypto: NoiseCrypto): () => void {
  const [own, theirs] = [crypto.generateX25519KeyPair(), crypto.generateX25519KeyPair()]

  return () => {
    const ephemeral = crypto.generateX25519KeyPair()

    for (const { privateKey } of [ephemeral, ephemeral, own]) {
      crypto.getHKDF(theirs.publicKey, crypto.generateX25519SharedKey(privateKey, theirs.publicKey))
    }

    crypto.getHKDF(theirs.publicKey, NO_BYTES)
  }
}

async function microseconds (run: () => void): Promise<number> {
  const end = performance.now() + SLICE
  const before = process.cpuUsage()
  let runs = 0

  while (performance.now() < end) {
    run()
    runs++

    if (runs % 64 === 0) {
      // what a message left behind is only freed between turns
      await setImmediate()
    }
  }

  const { user, system } = process.cpuUsage(before)

  return (user + system) / runs
}

const [theirHandshake, ourHandshake] = [handshake(defaultCrypto), handshake(noiseCrypto)]
const ROWS: Record<string, (crypto: NoiseCrypto) => void> = {
  '100 B': message(frames(100)),
  '1 KiB': message(frames(1_024)),
  '20 frames of 1 KiB': message(frames(1_024, 20)),
  '64 KiB': message(frames(65_507)),
  handshake: crypto => { (crypto === noiseCrypto ? ourHandshake : theirHandshake)() }
}

for (const [name, run] of Object.entries(ROWS)) {
  const times: [number[], number[]] = [[], []]

  for (let round = 0; round < ROUNDS; round++) {
    times[0].push(await microseconds(() => { run(defaultCrypto) }))
    times[1].push(await microseconds(() => { run(noiseCrypto) }))
  }

  const [theirs, ours] = times.map(list => median(list.slice(1)))
  say(`${name}: ${theirs.toFixed(1)} us, with noiseCrypto ${ours.toFixed(1)} us, ${(ours / theirs).toFixed(2)}`)
}
