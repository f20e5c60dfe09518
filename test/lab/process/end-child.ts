import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'

const EXIT_TIMEOUT = 3_000
const PATIENCE = 30_000

/**
 * Ends a process that ends when its channel closes; one that hangs is killed.
 *
 * @param child - just spawned or running
 * @param kill - what to do to one that hangs
 * @param isPatient - whether it has to clean up before it ends
 */
export async function endChild (child: Pick<ChildProcess, 'exitCode' | 'signalCode' | 'pid' | 'connected' | 'disconnect' | 'kill' | 'once'>, kill: () => void = () => { child.kill('SIGKILL') }, isPatient = false): Promise<void> {
  if (child.exitCode != null || child.signalCode != null || child.pid == null) {
    return
  }

  const exited = once(child as ChildProcess, 'exit')
  const timer = setTimeout(kill, isPatient ? PATIENCE : EXIT_TIMEOUT)

  if (child.connected) {
    child.disconnect()
  }

  await exited
  clearTimeout(timer)
}
