import util from 'node:util'

/** The name of an error of libc, from its negative number: `EADDRINUSE` */
export function errorCode (errno: number): string {
  return util.getSystemErrorMap().get(errno)?.[0] ?? `error ${-errno}`
}

/** An error as Node makes it of a failed call on an address */
export function systemError (syscall: string, errno: number, address: string, port: number): NodeJS.ErrnoException {
  const description = util.getSystemErrorMap().get(errno)?.[1] ?? 'unknown error'
  const code = errorCode(errno)

  return Object.assign(new Error(`${syscall} ${code}: ${description} ${address}:${port}`), { code, errno, syscall, address, port })
}
