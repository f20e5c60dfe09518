import { exec } from '../lab/link/exec.ts'
import { keep } from '../lab/link/keep.ts'
import { addNamespace } from '../lab/link/namespaces.ts'
import { startCable } from '../lab/link/relay.ts'
import { sum } from '../lab/statistics.ts'
import { namespaceOf, removeNetwork, removeStaleNetworks, route } from '../nat/lab/network.ts'
import type { LinkShape } from '../lab/link/link.ts'
import type { Relay } from '../lab/link/relay.ts'

/** A process that keeps hosts, each in a namespace of its own, behind one router: a line of its own leads from each to there. */

const cables: Relay[] = []

async function make (lines: LinkShape[]): Promise<Array<{ namespace: string, host: string }>> {
  removeStaleNetworks()

  const hub = namespaceOf(process.pid, 'hub')
  const hosts: Awaited<ReturnType<typeof make>> = []

  addNamespace(hub)
  route(hub)

  for (const [i, shape] of lines.entries()) {
    const namespace = namespaceOf(process.pid, `host${i}`)
    const device = `ft${process.pid}${'abcdef'[i]}`
    const subnet = `10.90.${i}`

    addNamespace(namespace)
    cables.push(await startCable([
      { namespace: hub, device: `${device}u`, address: `${subnet}.1/30` },
      { namespace, device: `${device}d`, address: `${subnet}.2/30` }
    ], shape))
    exec('ip', '-n', namespace, 'route', 'add', 'default', 'via', `${subnet}.1`)
    hosts.push({ namespace, host: `${subnet}.2` })
  }

  return hosts
}

const tasks = {
  /** What was dropped from full queues, and how much later than it should a packet left, in ms: 95th percentile and maximum */
  lines (): { dropped: number, late: number[] } {
    const traffic = cables.flatMap(({ directions }) => directions.map(direction => direction.traffic()))

    return { dropped: sum(traffic.map(({ dropped }) => dropped)), late: [1, 2].map(i => Math.max(...traffic.map(({ late }) => late[i]))) }
  }
}

keep(make, async () => {
  await Promise.all(cables.map(async cable => cable.close()))
  removeNetwork(process.pid)
}, tasks)

export type MakeStar = typeof make
export type StarTasks = typeof tasks
