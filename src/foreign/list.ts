/*
 * Everything of objects which are not ours that this package replaces or relies on and that libp2p's
 * interfaces do not promise, or that it replaces at all. README.md beside this file says why, for each.
 */

/** What `typeof` says */
export type Kind = 'function' | 'object' | 'string' | 'boolean' | 'number'

export interface Foreign {
  /** What is off, or cannot work, without these members */
  readonly feature: string

  /** Whose members they are */
  readonly object: string

  /** The package that defines them */
  readonly from: string

  /** Members that are called or read */
  readonly uses: Readonly<Record<string, Kind>>

  /** Methods that are replaced on the object */
  readonly replaces: readonly string[]
}

/** Versions of `@libp2p/utils` whose base class fits, as package.json has them */
export const UTILS_VERSIONS = '^7.4.1'

const UTILS = '@libp2p/utils'

export const FOREIGN = {
  /** Subclassed, not replaced: `replaces` are the methods that the base class must call */
  base: {
    feature: 'the transport',
    object: 'AbstractMultiaddrConnection',
    from: UTILS,
    uses: {
      abort: 'function',
      dispatchEvent: 'function',
      dispatchReadBuffer: 'function',
      listenerCount: 'function',
      maybeDispatchEnd: 'function',
      onData: 'function',
      onRemoteCloseWrite: 'function',
      onRemoteReset: 'function',
      onTransportClosed: 'function',
      processSendQueue: 'function',
      readBuffer: 'object',
      readBufferLength: 'number',
      readStatus: 'string',
      remoteReadStatus: 'string',
      remoteWriteStatus: 'string',
      safeDispatchEvent: 'function',
      send: 'function',
      sendingData: 'boolean',
      status: 'string',
      timeline: 'object',
      writableNeedsDrain: 'boolean',
      writeBuffer: 'object',
      writeStatus: 'string'
    },
    replaces: ['dispatchEvent', 'dispatchReadBuffer', 'sendData', 'sendPause', 'sendReset', 'sendResume']
  },
  stream: {
    feature: 'the proposal of a stream\'s protocol',
    object: 'stream',
    from: UTILS,
    uses: {
      onData: 'function',
      onRemoteCloseWrite: 'function',
      onRemoteReset: 'function',
      onTransportClosed: 'function',
      sendCloseWrite: 'function',
      remoteWriteStatus: 'string',
      writeStatus: 'string'
    },
    replaces: ['close', 'onData', 'onRemoteCloseWrite', 'onRemoteReset', 'onTransportClosed', 'send', 'sendCloseWrite']
  },
  listeningStream: {
    feature: 'the wait of a FIN for its reader',
    object: 'stream of a peer',
    from: UTILS,
    uses: {
      listenerCount: 'function',
      onRemoteCloseWrite: 'function',
      onTransportClosed: 'function'
    },
    replaces: ['addEventListener', 'close', 'onRemoteCloseWrite', 'onTransportClosed']
  },
  securedConnection: {
    feature: 'the proposal of a connection\'s muxer',
    object: 'secured connection',
    from: UTILS,
    uses: {
      onData: 'function',
      onRemoteCloseWrite: 'function',
      onRemoteReset: 'function',
      onTransportClosed: 'function'
    },
    replaces: ['onData', 'onRemoteCloseWrite', 'onRemoteReset', 'onTransportClosed']
  },
  noiseConnection: {
    feature: 'batches of Noise',
    object: 'connection of Noise',
    from: '@libp2p/noise',
    uses: {
      dispatchEvent: 'function',
      send: 'function',
      status: 'string',
      writableNeedsDrain: 'boolean'
    },
    replaces: ['dispatchEvent', 'send']
  },
  belowNoise: {
    feature: 'batches of Noise',
    object: 'connection below Noise',
    from: UTILS,
    uses: { close: 'function' },
    replaces: ['close']
  },
  muxer: {
    feature: 'the proposal of a stream\'s protocol',
    object: 'muxer',
    from: UTILS,
    uses: {
      addEventListener: 'function',
      close: 'function',
      createStream: 'function',
      streams: 'object'
    },
    replaces: ['addEventListener', 'close', 'createStream', 'dispatchEvent']
  },
  connection: {
    feature: 'the limit for streams that a peer may not expect yet',
    object: 'connection',
    from: 'libp2p',
    uses: {
      newStream: 'function',
      streams: 'object'
    },
    replaces: ['newStream']
  },
  sendingStream: {
    feature: 'fair streams',
    object: 'stream that sends much',
    from: UTILS,
    uses: {
      onDrain: 'function',
      onMuxerDrain: 'function',
      onMuxerNeedsDrain: 'function',
      processSendQueue: 'function',
      sendData: 'function',
      writableNeedsDrain: 'boolean',
      writeBufferLength: 'number'
    },
    replaces: ['dispatchEvent', 'onDrain', 'onMuxerDrain', 'onMuxerNeedsDrain', 'sendData']
  },
  /** Besides these `[Symbol.asyncIterator]` is replaced, of streams whose muxer has windows */
  pausingStream: {
    feature: 'backpressure',
    object: 'stream that receives',
    from: UTILS,
    uses: {
      maxReadBufferLength: 'number',
      readBufferLength: 'number',
      readStatus: 'string',
      remoteWriteStatus: 'string',
      sendWindowUpdate: 'function'
    },
    replaces: ['sendResume']
  },
  muxerFactory: {
    feature: 'credit and a send window that fit the path',
    object: 'factory of yamux',
    from: '@libp2p/yamux',
    uses: {},
    replaces: ['createStreamMuxer']
  },
  belowMuxer: {
    feature: 'credit and a send window that fit the path',
    object: 'connection below yamux',
    from: UTILS,
    uses: {
      abort: 'function',
      dispatchEvent: 'function',
      status: 'string',
      writableNeedsDrain: 'boolean'
    },
    replaces: ['addEventListener', 'send']
  },
  pingingMuxer: {
    feature: 'the send window that fits the path',
    object: 'yamux',
    from: '@libp2p/yamux',
    uses: { ping: 'function' },
    replaces: []
  }
} as const satisfies Record<string, Foreign>

export type ForeignName = keyof typeof FOREIGN

/** Two properties that must be the same object */
export interface Identity {
  readonly feature: string
  readonly identity: string
  readonly from: string
}

export const IDENTITIES = {
  multiaddr: {
    feature: 'the dial of several addresses of a peer at once',
    identity: 'dial(multiaddr) === dialFilter([multiaddr])',
    from: 'libp2p'
  },
  streams: {
    feature: 'the proposal of a stream\'s protocol to peers that are known to speak it',
    identity: 'connection.streams === muxer.streams',
    from: 'libp2p'
  },
  timeline: {
    feature: 'fair streams, credit and a send window that fit the path, the limit for streams that a peer may not expect yet, and observed addresses',
    identity: 'connection.timeline === maConn.timeline',
    from: 'libp2p'
  }
} as const satisfies Record<string, Identity>

export type IdentityName = keyof typeof IDENTITIES
