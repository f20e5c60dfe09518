/** What each program does, and of which packages, in the order in which they run */
export interface ProgramInfo {
  title: string
  packages: string[]

  /** Addresses that the program needs, and no machine has: it runs in a network namespace with them */
  addresses?: string[]

  /** It makes addresses silent, for which it needs nft and a network namespace */
  drops?: true

  /** Facts of which a transport may deliver more than official does */
  gains?: string[]

  /** Why the program fails with official too, which its facts say */
  note?: string
}

const PUBLIC = ['8.0.0.1', '8.1.0.1', '8.2.0.1', '8.3.0.1', '8.4.0.1']

export const PROGRAMS = {
  ping: { title: '2 × 1,000 pings one behind another', packages: ['@libp2p/ping'] },
  fetch: { title: '2,000 values of 10 B to 16 KB, ten at a time, and one that is absent', packages: ['@libp2p/fetch'] },
  'identify-push': { title: '10 changes of protocols, pushed to 5 peers', packages: ['@libp2p/identify'] },
  autonat: { title: '4 servers dial back', packages: ['@libp2p/autonat-v2'], addresses: PUBLIC },
  'autonat-v1': { title: '4 servers dial back', packages: ['@libp2p/autonat'], addresses: PUBLIC, note: 'AutoNAT 1 answers over the connection that it has in place of a new one, so that it verifies no address that is dialed from: with `@libp2p/tcp` too' },
  pnet: { title: '20 dials with a pre-shared key, echoes up to 8 MiB; a wrong key is refused', packages: ['@libp2p/pnet'] },
  metrics: { title: '100 dials, and the metrics that a dashboard shows', packages: ['@libp2p/prometheus-metrics', 'prom-client'] },
  'simple-metrics': { title: 'a dial with metrics', packages: ['@libp2p/simple-metrics'], note: 'simple-metrics 1 reads `source` of a connection, which libp2p 3 has no longer: every dial fails, with `@libp2p/tcp` too' },
  requests: { title: '50 peers, 2,000 requests of a stream each, 16 KiB of answer in chunks, as Lodestar asks for blocks', packages: ['libp2p'] },
  'kad-dht': { title: '12 nodes: provide and find, put and get, find a peer, 20 times', packages: ['@libp2p/kad-dht'] },
  'kad-dht-gone': {
    title: '12 nodes of which 5 have died, and the first address of each other is silent: provide and find, put and get, find a peer and dial it, twice',
    packages: ['@libp2p/kad-dht'],
    addresses: PUBLIC,
    drops: true,
    gains: ['peers', 'providers', 'values']
  },
  gossipsub: { title: '10 nodes, 1,000 messages to each', packages: ['@libp2p/gossipsub'] },
  transports: { title: 'TCP, WebSockets and WebRTC-direct in one node, echoes of 16 MiB', packages: ['@libp2p/websockets', '@libp2p/webrtc'] },
  relay: { title: '20 dials by way of a relay, echoes up to 4 MiB', packages: ['@libp2p/circuit-relay-v2'] },
  helia: { title: '500 blocks right after the dial, and a file of 50 MiB', packages: ['helia', '@helia/bitswap', '@helia/unixfs'] }
} satisfies Record<string, ProgramInfo>

export type ProgramName = keyof typeof PROGRAMS

export const MODES = {
  official: '`@libp2p/tcp`',
  plain: '`tcp()` alone',
  decorated: 'decorated',
  mixed: 'official and decorated nodes mixed'
}

export type ModeName = keyof typeof MODES
