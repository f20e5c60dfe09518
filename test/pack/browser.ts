/*
 * What somebody writes whose program runs in Node and in browsers. It is bundled for browsers, and prints what each export does there.
 */
import { noise } from '@libp2p/noise'
import { createLibp2p } from 'libp2p'
import * as fastTcp from 'libp2p-fast-tcp'
import * as fastTcpLinux from 'libp2p-fast-tcp/linux'
import * as fastTcpNat from 'libp2p-fast-tcp/nat'

const { CLOSE_TIMEOUT, optimistic, tcp, yamux } = fastTcp
const { linux } = fastTcpLinux
const { holePunching, reusePort } = fastTcpNat

const attempts: Record<string, () => Promise<unknown>> = {
  tcp: async () => createLibp2p({ transports: [tcp({ closeTimeout: CLOSE_TIMEOUT })] }),
  'optimistic(noise)': async () => createLibp2p({ connectionEncrypters: [optimistic(noise())] }),
  yamux: async () => createLibp2p({ streamMuxers: [yamux()] }),
  holePunching: async () => createLibp2p({ services: { punch: holePunching(() => ({})) } }),
  reusePort: async () => reusePort(),
  linux: async () => linux()
}

const errors = await Promise.all(Object.entries(attempts).map(async ([name, attempt]) => {
  try {
    // a node that was made would keep the process alive
    await (await attempt() as { stop?(): Promise<void> } | undefined)?.stop?.()

    return `${name}: no error`
  } catch (err: any) {
    return `${name}: ${err.name}: ${err.message}`
  }
}))

const exported = [fastTcp, fastTcpLinux, fastTcpNat].map(module => Object.keys(module).sort().join(' '))

console.info(JSON.stringify({ errors, exported })) // eslint-disable-line no-console
