import { fork } from 'node:child_process'
import { once } from 'node:events'
import { scriptPath } from '../script-path.ts'
import type { KeeperReply, KeeperRequest } from './keeper.ts'
import type { LinkParts, LinkShape } from './link.ts'

const TITLES = {
  netem: 'netem link: two network namespaces joined by veth, delayed by tc netem',
  relay: 'relay link: two network namespaces joined by TUN devices, delayed by a userspace relay'
}

/**
 * A link between two network namespaces, kept by a process of its own. Throws
 * with the reason when this machine cannot make it.
 */
export async function namespaceLink (kind: 'netem' | 'relay', shape: LinkShape): Promise<LinkParts> {
  // in a process group of its own Ctrl-C does not reach it before us
  const keeper = fork(scriptPath(import.meta.url, 'keeper'), [], { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const exited = once(keeper, 'exit')

  async function close (): Promise<void> {
    if (keeper.connected) {
      keeper.disconnect()
    }

    await exited
  }

  const request: KeeperRequest = { kind, shape }
  keeper.send(request)

  const reply = await Promise.race([
    once(keeper, 'message').then(([message]): KeeperReply => message),
    exited.then((): KeeperReply => ({ type: 'failed', reason: 'its keeper ended' }))
  ])

  if (reply.type === 'failed') {
    await close()
    throw new Error(reply.reason)
  }

  return {
    kind,
    title: TITLES[kind],
    hiddenRoundTrips: 0,
    listenHost: reply.listenHost,
    dialAddress: async port => ({ host: reply.listenHost, port }),
    commandAt: (end, command) => ['ip', 'netns', 'exec', reply.namespaces[end], ...command],
    close
  }
}
