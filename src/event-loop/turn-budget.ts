import { HandshakeQueue } from './handshake-queue.ts'
import { ReadBudget } from './read-budget.ts'

/** What connections may do in a turn of the event loop. All share it, as they share the loop */
export const turnBudget = {
  handshakes: new HandshakeQueue(),
  reading: new ReadBudget()
}
