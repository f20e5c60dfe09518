import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The two processes that a benchmark connects */
export type End = 'dialer' | 'listener'

/**
 * Keeps the thread of an end that runs JavaScript on a core of its own; those that compile and collect garbage for it go where there is
 * room, as ever. Where the scheduler may put the two ends on one core or on two, it sticks to what it chose for a while, and what two
 * rivals are compared by is which of them was put where: a round trip of 100 B takes 30 us on one core and 90 on two that have to be
 * woken up.
 *
 * Does nothing where that is not possible: on other systems, without `taskset` or with a single core.
 */
export async function keepOnOwnCore (end: End, pid: number): Promise<void> {
  const cores = available ??= findCores()

  if (cores.length > 1) {
    await run('taskset', ['-p', '-c', `${end === 'dialer' ? cores[0] : cores.at(-1)}`, `${pid}`])
  }
}

let available: number[] | undefined

function findCores (): number[] {
  const list = process.platform === 'linux' ? /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '' : ''
  const cores = parseCores(list)

  return spawnSync('taskset', ['-c', `${cores.at(-1)}`, 'true'], { stdio: 'ignore' }).status === 0 ? cores : []
}

/** A list as the kernel writes it, such as `0-3,8`. */
function parseCores (list: string): number[] {
  return list.split(',').filter(range => range !== '').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)

    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
