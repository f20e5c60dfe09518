/** Tells how far it is, apart from what is printed as the result. */
export function say (line: string): void {
  process.stderr.write(`${line}\n`)
}
