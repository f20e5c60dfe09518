import { remote } from '../../negotiation/fixtures/remote.ts'
import type { Defer } from '../../fixtures/cleanup.ts'
import type { Behaviour, Visit } from '../../negotiation/fixtures/remote.ts'

/** Resolves when so many connections have come and so many bytes over the last of them */
export type Visited = (visits: number, bytes: number) => Promise<void>

/** A peer that behaves so, the first time, the second time and so on */
export async function visiting (defer: Defer, behaviours: Behaviour[]): Promise<{ addr: string, port: number, visited: Visited }> {
  const visits = Array.from(behaviours, () => Promise.withResolvers<Visit>())
  const { addr, port } = await remote(defer, behaviours.map((behaviour, index) => visit => {
    visits[index].resolve(visit)

    return behaviour(visit)
  }))

  return { addr, port, visited: async (nth, bytes) => (await visits[nth - 1].promise).got(bytes) }
}
