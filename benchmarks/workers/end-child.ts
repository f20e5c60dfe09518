import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'

const EXIT_TIMEOUT = 3_000

/**
 * Ends a process that ends when its channel closes; one that hangs is killed.
 */
export async function endChild (child: ChildProcess, kill: () => void = () => { child.kill('SIGKILL') }): Promise<void> {
  if (child.exitCode != null || child.signalCode != null || child.pid == null) {
    return
  }

  const exited = once(child, 'exit')
  const timer = setTimeout(kill, EXIT_TIMEOUT)

  if (child.connected) {
    child.disconnect()
  }

  await exited
  clearTimeout(timer)
}
