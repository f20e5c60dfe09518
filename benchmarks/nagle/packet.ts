export interface Packet {
  /** Milliseconds since 1970. */
  time: number
  fromPort: number
  toPort: number

  /** As tcpdump abbreviates them: S, F, R, P and a dot for ACK. */
  flags: string

  /**
   * The sequence number of the first byte and that behind the last, where the
   * segment has bytes or is a SYN or FIN.
   */
  from?: number
  to?: number
  ack?: number

  /** Of payload, in bytes */
  length: number
}

const LINE = /^(\d+)\.(\d+) .*?IP6? \S+\.(\d+) > \S+\.(\d+): Flags \[([^\]]*)\](?:.*?, seq (\d+)(?::(\d+))?)?(?:.*?, ack (\d+))?.*, length (\d+)/

/** Reads a line of `tcpdump -tt -n -S`. Undefined for what is no TCP segment. */
export function parsePacket (line: string): Packet | undefined {
  const match = LINE.exec(line)

  if (match == null) {
    return undefined
  }

  const [, seconds, fraction, fromPort, toPort, flags, from, to, ack, length] = match

  return {
    // microseconds since 1970 are more than a float of seconds holds
    time: Number(seconds) * 1_000 + Number(`0.${fraction}`) * 1_000,
    fromPort: Number(fromPort),
    toPort: Number(toPort),
    flags,
    from: optional(from),
    to: optional(to),
    ack: optional(ack),
    length: Number(length)
  }
}

function optional (digits: string | undefined): number | undefined {
  return digits == null ? undefined : Number(digits)
}
