import util from 'node:util'

/** The name of an error of libc, such as `EADDRINUSE`. `errno` is negative */
export function errorCode (errno: number): string {
  return util.getSystemErrorMap().get(errno)?.[0] ?? `error ${-errno}`
}

/** The error that Node would make of a failed call on an address. `errno` is negative */
export function systemError (syscall: string, errno: number, address: string, port: number): NodeJS.ErrnoException {
  const description = util.getSystemErrorMap().get(errno)?.[1] ?? 'unknown error'
  const code = errorCode(errno)

  return Object.assign(new Error(`${syscall} ${code}: ${description} ${address}:${port}`), { code, errno, syscall, address, port })
}
