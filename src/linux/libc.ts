/**
 * The calls of libc that Node has no API for. A call that fails gives a negative
 * error number, as the kernel itself does.
 */
export interface Libc {
  socket(family: number, type: number, protocol: number): number
  bind(fd: number, address: Uint8Array): number
  listen(fd: number, backlog: number): number

  /** Sets an option that is an `int` or a string */
  setOption(fd: number, level: number, name: number, value: number | string): number

  /**
   * Reads an option into a buffer.
   *
   * @returns how many bytes the kernel filled
   */
  getOption(fd: number, level: number, name: number, into: Uint8Array): number

  /**
   * Reads the address of this end of a socket, or of the peer's, into a buffer.
   *
   * @returns how many bytes the kernel filled
   */
  getAddress(fd: number, end: 'own' | 'peer', into: Uint8Array): number

  /** Sends without waiting, and without a signal where the peer is gone */
  send(fd: number, bytes: Uint8Array): number
  close(fd: number): number
}

/** What an argument is in C: an `int`, a pointer to bytes, a `socklen_t` or a `size_t` */
export type ArgumentType = 'int' | 'bytes' | 'length' | 'size'

/** The functions of libc that are called, with their arguments. All of them return an `int` */
export const SIGNATURES = {
  socket: ['int', 'int', 'int'],
  bind: ['int', 'bytes', 'length'],
  listen: ['int', 'int'],
  setsockopt: ['int', 'int', 'int', 'bytes', 'length'],
  getsockopt: ['int', 'int', 'int', 'bytes', 'bytes'],
  getsockname: ['int', 'bytes', 'bytes'],
  getpeername: ['int', 'bytes', 'bytes'],
  send: ['int', 'bytes', 'size', 'int'],
  close: ['int']
} satisfies Record<string, ArgumentType[]>

export type Functions = Record<keyof typeof SIGNATURES, (...args: unknown[]) => number>

/** `errno` reads the number of the last error, which is positive */
export function toLibc ({ socket, bind, listen, setsockopt, getsockopt, getsockname, getpeername, send, close }: Functions, errno: () => number): Libc {
  const orError = (result: number): number => result < 0 ? -errno() : result

  // the calls are synchronous, so one is enough
  const length = new Int32Array(1)
  const lengthBytes = new Uint8Array(length.buffer)
  const read = (into: Uint8Array, call: () => number): number => {
    length[0] = into.byteLength
    const result = orError(call())

    return result < 0 ? result : length[0]
  }

  return {
    socket: (family, type, protocol) => orError(socket(family, type, protocol)),
    bind: (fd, address) => orError(bind(fd, address, address.byteLength)),
    listen: (fd, backlog) => orError(listen(fd, backlog)),
    setOption (fd, level, name, value) {
      // in the byte order of this machine
      const bytes = typeof value === 'number' ? new Uint8Array(Int32Array.of(value).buffer) : new TextEncoder().encode(value)

      return orError(setsockopt(fd, level, name, bytes, bytes.byteLength))
    },
    getOption: (fd, level, name, into) => read(into, () => getsockopt(fd, level, name, into, lengthBytes)),
    getAddress: (fd, end, into) => read(into, () => (end === 'own' ? getsockname : getpeername)(fd, into, lengthBytes)),
    send: (fd, bytes) => orError(send(fd, bytes, BigInt(bytes.byteLength), MSG_DONTWAIT | MSG_NOSIGNAL)),
    close: fd => orError(close(fd))
  }
}

/*
 * Numbers of Linux on x86, ARM, RISC-V, LoongArch, POWER and s390. Those of MIPS,
 * SPARC and PA-RISC differ.
 */
export const ARCHITECTURES = ['x64', 'ia32', 'arm64', 'arm', 'riscv64', 'loong64', 'ppc64', 's390x']

export const AF_INET = 2
export const AF_INET6 = 10
export const SOCK_STREAM = 1
export const SOCK_NONBLOCK = 0o4000
export const SOCK_CLOEXEC = 0o2000000

export const SOL_SOCKET = 1
export const SO_REUSEADDR = 2
export const SO_REUSEPORT = 15

export const IPPROTO_IPV6 = 41
export const IPV6_V6ONLY = 26

export const IPPROTO_TCP = 6
export const TCP_KEEPIDLE = 4
export const TCP_KEEPINTVL = 5
export const TCP_KEEPCNT = 6
export const TCP_INFO = 11
export const TCP_CONGESTION = 13
export const TCP_USER_TIMEOUT = 18
export const TCP_FASTOPEN = 23
export const TCP_NOTSENT_LOWAT = 25
export const TCP_FASTOPEN_CONNECT = 30

export const MSG_DONTWAIT = 0x40
export const MSG_NOSIGNAL = 0x4000
