import { execFileSync } from 'node:child_process'

/** Runs a command to its end and returns what it printed. Throws an error with what it complained of. */
export function exec (file: string, ...args: string[]): string {
  try {
    return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (err: any) {
    if (err.code === 'ENOENT') {
      throw new Error(`${file} is not installed`, { cause: err })
    }

    const complaint: string = err.stderr?.trim() ?? err.message

    throw new Error(`${[file, ...args].join(' ')}: ${complaint}`, { cause: err })
  }
}

export function tryExec (file: string, ...args: string[]): string {
  try {
    return exec(file, ...args)
  } catch {
    return ''
  }
}
