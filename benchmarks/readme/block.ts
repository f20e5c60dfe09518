const START = '<!-- benchmarks:start -->'
const END = '<!-- benchmarks:end -->'

/**
 * Puts a block between the markers of a page.
 *
 * @throws {Error} if the page lacks them
 */
export function replaceBlock (page: string, block: string): string {
  const start = page.indexOf(START)
  const end = page.indexOf(END)

  if (start === -1 || end < start) {
    throw new Error(`The page has no lines ${START} and ${END}`)
  }

  return `${page.slice(0, start)}${START}\n\n${block}\n\n${page.slice(end)}`
}
