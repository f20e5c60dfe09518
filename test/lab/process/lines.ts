/** What a program that another one runs says: a line of JSON */
export function tell (line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Ends this process when its input does: that is the end of a pipe, which closes when our parent dies */
export function endWithInput (): void {
  process.stdin.once('end', () => process.exit()).resume()
}
