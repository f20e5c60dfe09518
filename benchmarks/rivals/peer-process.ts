import { scriptPath } from '../script-path.ts'
import type { PeerReply, PeerRequest } from './peer.ts'
import type { Rival, Sample } from './rival.ts'
import type { Link, LinkEnd } from '../link/link.ts'

export interface PeerProcess {
  listen(host: string): Promise<string[]>
  dial(multiaddr: string): Promise<Sample>
}

type Request = PeerRequest extends infer R ? R extends { id: number } ? Omit<R, 'id'> : never : never

/**
 * Starts a peer of a rival in a process of its own at one end of a link, which
 * ends with the link. Every call rejects when the process ends.
 */
export async function startPeer (link: Link, end: LinkEnd, rival: Rival): Promise<PeerProcess> {
  const child = link.run(end, scriptPath(import.meta.url, 'peer'), [rival.name, end])
  const ready = Promise.withResolvers<unknown>()
  const pending = new Map<number | undefined, PromiseWithResolvers<any>>([[undefined, ready]])
  let requests = 0

  child.on('message', (reply: PeerReply) => {
    const id = reply.type === 'ready' ? undefined : reply.id
    const waiting = pending.get(id)
    pending.delete(id)

    if (reply.type === 'failed') {
      waiting?.reject(new Error(`${rival.name} ${end}: ${reply.reason}`))
    } else {
      waiting?.resolve(reply.type === 'done' ? reply.result : undefined)
    }
  })
  child.once('error', err => { endWith(err) })
  child.once('exit', (code, signal) => { endWith(new Error(`${rival.name} ${end} ended with ${signal ?? `code ${code}`}`)) })

  function endWith (err: Error): void {
    pending.forEach(({ reject }) => { reject(err) })
    pending.clear()
  }

  async function ask (request: Request): Promise<any> {
    const id = requests++
    const waiting = Promise.withResolvers<any>()
    pending.set(id, waiting)
    child.send({ ...request, id }, err => {
      if (err != null) {
        waiting.reject(err)
      }
    })

    return waiting.promise
  }

  await ready.promise

  return {
    listen: async host => ask({ type: 'listen', host }),
    dial: async multiaddr => ask({ type: 'dial', multiaddr })
  }
}
