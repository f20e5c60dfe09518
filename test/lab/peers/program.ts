import { runProgram } from '../process/program.ts'
import { addressOf, multiaddrOf } from './address.ts'
import { binaryOf, buildPeer } from './build.ts'
import { lockedVersions } from './versions.ts'
import type { PeerName } from './build.ts'
import type { Contender, FirstByte, Program } from './contender.ts'
import type { Program as RunningProgram } from '../process/program.ts'

/** An implementation of libp2p in another language, built on first use from the sources in the folder of its name. */
export function programOf (name: PeerName): Pick<Contender, 'versions' | 'prepare' | 'open' | 'onlyIfNamed'> {
  return {
    // a cold build takes minutes: 5 for rust, on two cores
    onlyIfNamed: true,
    versions: () => lockedVersions(name),

    async prepare (onProgress) {
      const built = await buildPeer(name, () => { onProgress(`building the ${name} peer on first use, which may take minutes`) })

      if (built.status === 'missing-toolchain') {
        throw new Error(`there is no working ${built.toolchain} on this machine`)
      }
    },

    open: async () => openProgram(binaryOf(name))
  }
}

/** A line of a dialer's output, as README.md describes it */
interface Outcome {
  ok: boolean
  connectedMs: number
  openedMs: number
  firstByteMs: number
  closeMs: number
  error?: string
}

const TIMEOUT = 30_000

export function openProgram (binary: string): Program {
  let listener: RunningProgram | undefined
  let dialer: RunningProgram | undefined

  return {
    async listen ([host]) {
      listener = runProgram([binary, 'listen', '--host', host])
      const { multiaddr, peerId } = await listener.nextLine()

      return [multiaddrOf(addressOf(multiaddr), peerId)]
    },

    async firstByte (address) {
      dialer ??= runProgram([binary, 'dial', '-', '--bytes', '1', '--timeout-ms', `${TIMEOUT}`])
      dialer.write(address)

      return toFirstByte(await dialer.nextLine())
    },

    async close () {
      await Promise.all([listener?.end(), dialer?.end()])
    }
  }
}

/** The program knows when its library says that a connection is up, not when its TCP connection was or its security handshake. */
function toFirstByte ({ ok, error, connectedMs, openedMs, firstByteMs, closeMs }: Outcome): FirstByte {
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
