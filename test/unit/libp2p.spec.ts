import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'aegir/chai'
import * as presumed from '../../src/libp2p.ts'

const MODULES = path.join(import.meta.dirname, '../../node_modules')

/** What the source of each constant says, as a pattern whose first group is the value */
const SOURCES: Record<Exclude<keyof typeof presumed, 'MAX_UNANSWERED_STREAMS'>, [string, RegExp]> = {
  MULTISTREAM: ['@libp2p/multistream-select/dist/src/constants.js', /PROTOCOL_ID = '(.+)'/],
  MAX_MULTISTREAM_BYTES: ['@libp2p/multistream-select/dist/src/constants.js', /MAX_PROTOCOL_LENGTH = (.+);/],
  NOISE: ['@libp2p/noise/dist/src/noise.js', /protocol = '(.+)'/],
  TLS: ['@libp2p/tls/dist/src/index.js', /PROTOCOL = '(.+)'/],
  PLAINTEXT: ['@libp2p/plaintext/dist/src/index.js', /PROTOCOL = '(.+)'/],
  YAMUX: ['@libp2p/yamux/dist/src/muxer.js', /YAMUX_PROTOCOL_ID = '(.+)'/],
  DEFAULT_MAX_INBOUND_STREAMS: ['libp2p/dist/src/registrar.js', /DEFAULT_MAX_INBOUND_STREAMS = (.+);/],
  DEFAULT_MAX_OUTBOUND_STREAMS: ['libp2p/dist/src/registrar.js', /DEFAULT_MAX_OUTBOUND_STREAMS = (.+);/],
  PROTOCOL_NEGOTIATION_TIMEOUT: ['libp2p/dist/src/connection-manager/constants.defaults.js', /PROTOCOL_NEGOTIATION_TIMEOUT = (.+);/],
  INBOUND_UPGRADE_TIMEOUT: ['libp2p/dist/src/connection-manager/constants.defaults.js', /INBOUND_UPGRADE_TIMEOUT = (.+);/],
  OWNER_CLOSE_TIMEOUT: ['libp2p/dist/src/connection-manager/index.js', /signal: AbortSignal\.timeout\((\d+)\)/],
  MAX_EARLY_STREAMS: ['@libp2p/utils/dist/src/abstract-stream-muxer.js', /maxEarlyStreams \?\? (\d+)/]
}

describe('what is presumed of libp2p', () => {
  for (const [name, [file, pattern]] of Object.entries(SOURCES)) {
    it(`is what ${file} says of ${name}`, () => {
      const value = presumed[name as keyof typeof presumed]
      const found = pattern.exec(readFileSync(path.join(MODULES, file), 'utf8'))?.[1].replaceAll('_', '')

      expect(typeof value === 'number' ? Number(found) : found).to.equal(value)
    })
  }
})
