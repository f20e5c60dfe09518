/** Two properties of libp2p that must be the same object. No interface promises it */
const IDENTITIES = {
  multiaddr: ['The dial of several addresses of a peer at once', 'dial(multiaddr) === dialFilter([multiaddr])'],
  timeline: ['The observation of addresses', 'connection.timeline === maConn.timeline']
}

/** `code` of the warnings, for programs that listen for 'warning' of `process` */
const CODE = 'LIBP2P_FAST_TCP_UNEXPECTED_LIBP2P'

const warned = new Set<string>()

/** Warns once, as a warning of the process, if two properties are not the same object, which the caller has found out */
export function expectIdentity (name: keyof typeof IDENTITIES, holds: boolean): void {
  if (!holds && !warned.has(name)) {
    const [feature, identity] = IDENTITIES[name]

    warned.add(name)
    globalThis.process?.emitWarning?.(`${feature} is off, because ${identity} does not hold. This version of libp2p does not fit`, { code: CODE })
  }
}
