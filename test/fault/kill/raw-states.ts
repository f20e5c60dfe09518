import { readFile } from 'node:fs/promises'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { pEvent } from 'p-event'
import { MiB, payload, sendAll } from '../../fixtures/bytes.ts'
import { rawTransport } from '../../fixtures/raw.ts'
import { until, within } from '../../fixtures/waiting.ts'
import { endingOf, expectCut } from '../endings.ts'
import { LIMIT, PATIENCE, expectSoonAfterKill, runRemote } from './kill.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { Run } from '../scenario.ts'
import type { RawState } from './kill.ts'
import type { MultiaddrConnection } from '@libp2p/interface'

/** More than the kernels at both ends take from whom nobody reads */
const DATA = payload(32 * MiB)

/** Kills a plain TCP peer */
export async function killRaw (state: RawState, run: Run): Promise<void> {
  const remote = runRemote(run.defer, 'raw', state)
  const port: number = await remote.says()
  const { dial } = rawTransport(run.defer)
  const addr = `/ip4/127.0.0.1/tcp/${port}`

  if (state === 'dialing') {
    await fillBacklog(run.defer, port)

    const dialing = dial(addr).then(() => { throw new Error('It was dialed') }, () => {})
    // SYN is sent again after one second, to be refused
    await delay(300)
    await expectSoonAfterKill(remote, run, 'The dial', dialing)
    return
  }

  const conn = await dial(addr)

  if (state === 'lingering') {
    conn.send(new Uint8Array(12))
    // which is as far as @libp2p/tcp comes: it waits for the peer without end
    await Promise.race([conn.close(), delay(500)])
    await expectSoonAfterKill(remote, run, 'The end of the socket', untilGone(port))
    return
  }

  const ending = endingOf(conn)
  // @libp2p/tcp closes at the peer's FIN, whatever it has yet to send
  const remoteHasClosed = state === 'half-closed' ? Promise.race([pEvent(conn, 'remoteCloseWrite'), ending.ended]) : undefined

  sendAll(conn, state === 'connected' ? new Uint8Array(12) : DATA)
  await remoteHasClosed

  const closing = state === 'closing' ? conn.close().then(() => { throw new Error('close() resolved, though not everything was sent') }, () => {}) : undefined

  // the kernel takes what it can
  await delay(100)
  await expectSoonAfterKill(remote, run, 'The end of the connection', ending.ended)
  expectError(conn)

  if (closing != null) {
    await within(LIMIT, 'close() of a connection that has ended', closing)
  }

  if (ending.times !== 1) {
    await expectCut('The connection', ending, PATIENCE)
  }
}

function expectError (conn: MultiaddrConnection): void {
  if (conn.status !== 'reset' && conn.status !== 'aborted') {
    throw new Error(`What was not sent is lost, and the connection is ${conn.status}`)
  }
}

/** The kernel takes one more than it was told */
async function fillBacklog (defer: Defer, port: number): Promise<void> {
  for (let i = 0; i < 2; i++) {
    const socket = net.connect({ host: '127.0.0.1', port })
    socket.on('error', () => {})
    defer(() => socket.destroy())
    await pEvent(socket, 'connect')
  }
}

/** A socket that no process holds any more has no inode in the kernel's table */
async function untilGone (port: number): Promise<void> {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`

  await until(async () => {
    const [, ...lines] = (await readFile('/proc/net/tcp', 'latin1')).trim().split('\n')

    return lines
      .map(line => line.trim().split(/\s+/))
      .every(columns => !columns[2].endsWith(remote) || columns[9] === '0')
  }, 'the socket is gone', PATIENCE)
}
