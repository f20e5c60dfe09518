import { endWithParent } from '../run/end-with-parent.ts'
import { rivalNamed } from './registry.ts'
import type { Role } from './rival.ts'

/**
 * A process that is one peer of one rival: `peer <rival> <role>`. It does what
 * it is asked over its channel and ends with it.
 */

export type PeerRequest = { id: number } & (
  { type: 'listen', host: string } |
  { type: 'dial', multiaddr: string }
)

export type PeerReply =
  { type: 'ready' } |
  { type: 'done', id: number, result: unknown } |
  { type: 'failed', id?: number, reason: string }

function reply (message: PeerReply): void {
  if (process.connected) {
    process.send?.(message)
  }
}

endWithParent()

const [name, role] = process.argv.slice(2)

try {
  const peer = await rivalNamed(name).open(role as Role)

  process.on('message', (request: PeerRequest) => {
    const result = request.type === 'listen' ? peer.listen(request.host) : peer.dial(request.multiaddr)

    result.then(
      result => { reply({ type: 'done', id: request.id, result }) },
      err => { reply({ type: 'failed', id: request.id, reason: err.message }) }
    )
  })
  reply({ type: 'ready' })
} catch (err: any) {
  reply({ type: 'failed', reason: err.stack })
}
