import { spawn } from 'node:child_process'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Direction } from './direction.ts'
import { exec } from './exec.ts'
import { addDevice } from './namespaces.ts'
import type { LinkShape } from './link.ts'
import type { ChildProcess } from 'node:child_process'

export interface Relay {
  /** What the first end sends, and what the second does */
  directions: [Direction, Direction]
  close(): Promise<void>
}

interface RelayEnd {
  socket: dgram.Socket
  port: number
  tun: ChildProcess
}

const TUN_TIMEOUT = 5_000

/** One end of a cable: a device in a namespace */
export interface CableEnd {
  namespace: string

  /** Unique on this machine for a moment, and in its namespace */
  device: string

  /** With the length of the prefix */
  address: string
}

/**
 * Joins two namespaces by a TUN device in each. A TUN device is a descriptor that reads and writes IP packets: socat turns them into UDP
 * datagrams for this process, which passes them on late. The kernel's own TCP runs at both ends.
 */
export async function startCable (ends: [CableEnd, CableEnd], shape: LinkShape): Promise<Relay> {
  const started: RelayEnd[] = []
  let directions: [Direction, Direction]

  async function close (): Promise<void> {
    await Promise.all(started.map(async ({ socket, tun }) => {
      socket.close()

      // false where it never started or has ended
      if (tun.exitCode == null && tun.kill('SIGKILL')) {
        await once(tun, 'exit')
      }
    }))
  }

  try {
    exec('socat', '-V')

    for (const { namespace, device, address } of ends) {
      const relayEnd = await startEnd(device)
      started.push(relayEnd)
      await isReady(relayEnd)
      // the descriptor that socat holds survives the move
      addDevice(namespace, device, address)
    }

    const [one, other] = started
    directions = [relay(one, other, shape), relay(other, one, shape)]
  } catch (err) {
    await close()
    throw err
  }

  return { directions, close }
}

async function startEnd (device: string): Promise<RelayEnd> {
  const socket = dgram.createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const port = await freePort()

  const tun = spawn('socat', [
    `TUN,tun-name=${device},iff-no-pi`,
    `UDP4:127.0.0.1:${socket.address().port},bind=127.0.0.1:${port}`
  ], { stdio: 'ignore' })

  // when it cannot start, it is never ready
  tun.on('error', () => {})
  // packets sent before socat listens are refused
  socket.on('error', () => {})

  return { socket, port, tun }
}

function relay (from: RelayEnd, to: RelayEnd, shape: LinkShape): Direction {
  const direction = new Direction(shape, packet => { to.socket.send(packet, to.port, '127.0.0.1') })

  from.socket.on('message', packet => { direction.push(packet) })
  to.socket.once('close', () => { direction.clear() })

  return direction
}

/**
 * socat opens its port when it has set up its device. The device is there earlier, but socat cannot set up what is moved to a namespace
 * meanwhile.
 */
async function isReady ({ port }: RelayEnd): Promise<void> {
  const until = performance.now() + TUN_TIMEOUT
  const local = ` 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} `

  while (!readFileSync('/proc/net/udp', 'latin1').includes(local)) {
    if (performance.now() > until) {
      throw new Error(`socat made no TUN device within ${TUN_TIMEOUT} ms`)
    }

    await wait(10)
  }
}

/** socat has to be told its own port: packets may be for it before one is from it */
async function freePort (): Promise<number> {
  const socket = dgram.createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()

  return port
}
