import type { Address } from '../../link/link.ts'
import type { StackName } from '../cases.ts'

/**
 * A way to send bytes over TCP, without anything above it.
 */
export interface Stack {
  /**
   * Listens on a port that the system chooses.
   *
   * @param host - the address to listen on
   * @param onBytes - is told the port that a connection comes from and how many
   * bytes have arrived at once
   */
  listen(host: string, onBytes: (remotePort: number, bytes: number) => void): Promise<Address>

  /**
   * @param address - what `listen` resolved to
   * @param noDelay - asked for in the way that the stack documents
   */
  dial(address: Address, noDelay: boolean): Promise<Channel>
}

export interface Channel {
  send(bytes: Uint8Array): void
  close(): void
}

/**
 * Loads a stack: none is imported by a process that does not use it.
 */
export async function openStack (name: StackName): Promise<Stack> {
  if (name === 'net') {
    return (await import('./net-stack.ts')).netStack()
  }

  const [{ transportStack }, { tcp }] = await Promise.all([
    import('./transport-stack.ts'),
    name === 'official' ? import('@libp2p/tcp') : import('../../../src/index.ts')
  ])

  return transportStack(tcp)
}
