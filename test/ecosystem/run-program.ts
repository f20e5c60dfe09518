import path from 'node:path'
import { execa } from 'execa'
import { PROGRAMS } from './programs.ts'
import type { ModeName, ProgramInfo, ProgramName } from './programs.ts'

/** Of a program in one mode, once */
export interface Outcome {
  program: ProgramName
  mode: ModeName

  /** What was delivered, the same in every mode */
  facts: Record<string, string | number>

  /** What must not be: failures, warnings, rejections, handles left behind */
  complaints: string[]

  /** ms on the clock */
  wall: number

  /** ms of the processor */
  cpu: number
}

const TIMEOUT = 600_000

/**
 * Runs a program in a process of its own. It never rejects: what went wrong is a
 * complaint.
 */
export async function runProgram (program: ProgramName, mode: ModeName, isShort: boolean, signal: AbortSignal): Promise<Outcome> {
  const { addresses }: ProgramInfo = PROGRAMS[program]
  const command = [process.execPath, path.join(import.meta.dirname, 'programs/main.ts'), program, mode, isShort ? 'short' : 'whole']
  const [file, ...args] = addresses == null ? command : [...withAddresses(addresses), ...command]
  const result = await execa(file, args, {
    env: { NODE_OPTIONS: '', DEBUG: '' },
    stdin: 'ignore',
    timeout: TIMEOUT,
    cancelSignal: signal,
    killSignal: 'SIGKILL',
    reject: false
  })

  try {
    const { facts, complaints, wall, cpu } = JSON.parse(result.stdout.trim().split('\n').at(-1) ?? '')

    return { program, mode, facts, complaints, wall, cpu }
  } catch {
    return { program, mode, facts: {}, complaints: [`ended without a result: ${result.shortMessage ?? ''} ${result.stderr.slice(-2_000)}`], wall: NaN, cpu: NaN }
  }
}

/** Whether this machine lets us make a network that has addresses of our choice */
export async function canHaveAddresses (): Promise<boolean> {
  const [file, ...args] = [...withAddresses(['8.0.0.1']), 'true']

  return !(await execa(file, args, { reject: false })).failed
}

/** ... and where packets to some of them vanish */
export async function canDrop (): Promise<boolean> {
  const [file, ...args] = [...withAddresses([]), 'nft', 'add table inet gone']

  return !(await execa(file, args, { reject: false })).failed
}

function withAddresses (addresses: string[]): string[] {
  const script = `ip link set lo up && for a in ${addresses.join(' ')}; do ip addr add $a/32 dev lo || exit 1; done && exec "$@"`

  return ['unshare', ...process.getuid?.() === 0 ? [] : ['--map-root-user'], '--net', 'sh', '-c', script, 'sh']
}
