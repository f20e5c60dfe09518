import { portOf } from '../../fixtures/raw.ts'
import { connectAndResetUnseen } from '../../fixtures/workers.ts'
import { handles, nothingLeft } from '../abort/promptly.ts'
import { echoTransport } from '../resources/echo-transport.ts'
import type { Scenario } from '../scenario.ts'

const CONNECTIONS = 100

export const resets: Scenario = {
  name: `${CONNECTIONS} connections that are reset before they are accepted`,
  runs: 20,
  timeout: 20_000,
  async prepare ({ defer }) {
    const { addrs, dialAndEcho } = await echoTransport(defer)
    // workers take handles of their own once
    await connectAndResetUnseen(defer, portOf(addrs[0]), 1, '127.0.0.2')
    await dialAndEcho(addrs[0])

    const before = handles()

    return async ({ defer, injected }) => {
      await connectAndResetUnseen(defer, portOf(addrs[0]), CONNECTIONS, '127.0.0.2')
      injected(CONNECTIONS)
      await dialAndEcho(addrs[0])
      await nothingLeft(before)
    }
  }
}
