import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { addressOf, multiaddrOf } from '../address.ts'
import type { Peer, Role, Sample } from '../rival.ts'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/**
 * A line of a dialler's output, as README.md describes it
 */
interface Outcome {
  ok: boolean
  connectedMs: number
  openedMs: number
  firstByteMs: number
  closeMs: number
  error?: string
}

const TIMEOUT = 30_000

/**
 * A peer that is a program of its own. It ends when its stdin does, and so never
 * outlives this process.
 */
export function nativePeer (binary: string, role: Role): Peer {
  // a dialler is up before its first dial; a listener is told its address by `listen`
  let running = role === 'dialler' ? run('dial', '-', '--bytes', '1', '--timeout-ms', `${TIMEOUT}`) : undefined

  function run (...args: string[]): Program {
    return program(spawn(binary, args, { stdio: ['pipe', 'pipe', 'inherit'] }), binary)
  }

  return {
    async listen (host) {
      running = run('listen', '--host', host)
      const { multiaddr, peerId } = await running.nextLine()

      return [multiaddrOf(addressOf(multiaddr), peerId)]
    },

    async dial (address) {
      if (running == null || role === 'listener') {
        throw new Error('A listener does not dial')
      }

      running.stdin.write(`${address}\n`)

      return toSample(await running.nextLine())
    },

    async close () {
      await running?.end()
    }
  }
}

/**
 * The program knows when its library says that a connection is up, not when its
 * TCP connection was or its security handshake.
 */
function toSample ({ ok, error, connectedMs, openedMs, firstByteMs, closeMs }: Outcome): Sample {
  if (!ok) {
    throw new Error(error)
  }

  return {
    stream: openedMs - connectedMs,
    firstByte: firstByteMs - openedMs,
    total: firstByteMs,
    close: closeMs
  }
}

interface Program {
  stdin: Writable

  /**
   * Rejects once the program has ended.
   */
  nextLine(): Promise<any>
  end(): Promise<void>
}

function program (child: ChildProcessByStdio<Writable, Readable, null>, name: string): Program {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let failure: Error | undefined

  child.once('error', err => { failure = err })
  // it may end while we write; then it has no next line
  child.stdin.on('error', () => {})

  return {
    stdin: child.stdin,

    async nextLine () {
      const { done, value } = await lines.next()

      if (done === true) {
        throw new Error(`${name} has ended`, { cause: failure })
      }

      return JSON.parse(value)
    },

    async end () {
      child.stdin.end()

      // one that could not be spawned has no id
      if (child.pid != null && child.exitCode == null && child.signalCode == null) {
        await once(child, 'exit')
      }
    }
  }
}
