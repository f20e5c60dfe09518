import { dialScenarios } from './dial.ts'
import { listenScenarios } from './listen.ts'
import { raceScenarios } from './race.ts'
import type { Suite } from '../scenario.ts'

export const abort: Suite = {
  name: 'abort',
  promise: 'Whatever a dial or a listener waits for: within 50 ms of the abort it gives up with an AbortError (or what the signal says), and no socket, server, look-up, timer or listener on the signal is left',
  scenarios: [
    ...dialScenarios,
    ...raceScenarios,
    ...listenScenarios
  ]
}
