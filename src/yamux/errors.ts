import { GoAwayCode } from './frames.ts'

/** The peer has broken the rules of yamux, which ends the connection. The names are those of `@libp2p/yamux` */
export class ProtocolError extends Error {
  static name = 'ProtocolError'

  /** What the peer is told */
  readonly reason: number = GoAwayCode.protocolError

  constructor (message: string) {
    super(message)
    this.name = 'ProtocolError'
  }
}

export class InvalidFrameError extends ProtocolError {
  static name = 'InvalidFrameError'

  constructor (message: string) {
    super(message)
    this.name = 'InvalidFrameError'
  }
}

export class UnRequestedPingError extends ProtocolError {
  static name = 'UnRequestedPingError'

  constructor (message = 'The peer has answered a ping that nobody sent') {
    super(message)
    this.name = 'UnRequestedPingError'
  }
}

export class NotMatchingPingError extends ProtocolError {
  static name = 'NotMatchingPingError'

  constructor (message = 'The peer has answered another ping than the last one') {
    super(message)
    this.name = 'NotMatchingPingError'
  }
}

export class ReceiveWindowExceededError extends ProtocolError {
  static name = 'ReceiveWindowExceededError'

  constructor (message: string) {
    super(message)
    this.name = 'ReceiveWindowExceededError'
  }
}
