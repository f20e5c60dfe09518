import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * How many segments with data each socket of a port has sent, by its two
 * addresses: the kernel counts them, retransmissions included.
 */
export type SegmentCounts = Map<string, number>

/** Why segments of a connection cannot be counted here, if they cannot. */
export function whyNoSegments (): string | undefined {
  return spawnSync('ss', ['-V'], { stdio: 'ignore' }).error == null ? undefined : 'ss is not installed'
}

/** @throws {Error} if there is no `ss` */
export async function countSegments (port: number): Promise<SegmentCounts> {
  const { stdout } = await run('ss', ['-tinHO', `( sport = :${port} or dport = :${port} )`])

  return parseSegments(stdout)
}

export function parseSegments (listing: string): SegmentCounts {
  const counts: SegmentCounts = new Map()

  for (const line of listing.split('\n')) {
    const [state, , , local, peer] = line.trim().split(/\s+/)

    if (state === 'ESTAB') {
      counts.set(`${local} ${peer}`, Number(/\bdata_segs_out:(\d+)/.exec(line)?.[1] ?? 0))
    }
  }

  return counts
}

/** How many segments sockets that are in both counts sent in the meantime. */
export function segmentsBetween (before: SegmentCounts, after: SegmentCounts): number {
  let sum = 0

  for (const [socket, count] of after) {
    const earlier = before.get(socket)
    sum += earlier == null ? 0 : count - earlier
  }

  return sum
}

/**
 * How many segments the machine has sent, with or without data. Undefined where
 * there is no /proc.
 */
export async function countMachineSegments (): Promise<number | undefined> {
  try {
    return parseOutSegs(await readFile('/proc/net/snmp', 'utf8'))
  } catch {
    // not on this system
  }
}

export function parseOutSegs (snmp: string): number | undefined {
  const [names, values] = snmp.split('\n').filter(line => line.startsWith('Tcp:')).map(line => line.split(' '))
  const index = names?.indexOf('OutSegs') ?? -1

  return index === -1 ? undefined : Number(values[index])
}
