import type { Plan } from './plan.ts'
import type { OpenSocket } from '../connector.ts'
import type { Connection } from '@libp2p/interface'

/** A connected socket: the first half of an attempt. The peer has received a SYN and nothing else */
export interface Connected extends OpenSocket {
  /** The plan that led here: not always the one that the attempt began with */
  readonly plan: Plan
}

/**
 * One dial, in two phases that may be used apart: several targets are connected to in a race, and the first is upgraded.
 */
export interface Attempt {
  /**
   * Opens a socket by the plan, or by the next one for as long as there is one.
   *
   * @throws {Error} what ended the last attempt, or the signal's reason. No socket is left then
   */
  connect(plan: Plan, signal: AbortSignal): Promise<Connected>

  /** Another socket was first */
  discard(connected: Connected): void

  /**
   * Runs the upgrade on the socket.
   *
   * @throws {PlanError} if {@link nextPlan} may have another plan
   * @throws {Error} the upgrader's error. No socket is left then
   */
  upgrade(connected: Connected): Promise<Connection>
}
