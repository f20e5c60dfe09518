import type { ListenerLimits } from './limits.ts'
import type { ListenerMetrics } from './listener-metrics.ts'
import type { PausableServer } from './pausable-server.ts'
import type { Logger } from '@libp2p/interface'

export interface PausingInit {
  server: PausableServer
  limits: ListenerLimits
  metrics: ListenerMetrics
  log: Logger

  /** Called if the port could not be taken again */
  onListenError?(err: Error): void
}

/** Gives up the port when there are too many connections, and takes it again when there are few enough */
export class Pausing {
  readonly #init: PausingInit

  constructor (init: PausingInit) {
    this.#init = init
  }

  /** A connection has come or gone */
  update (): void {
    const { limits, log, metrics, server } = this.#init

    if (!limits.isFull(server.state === 'paused')) {
      void this.#resume()
    } else if (server.pause()) {
      log('paused server on %s with %d connections', metrics.label, limits.connections)
      metrics.updateStatus(server.state)
    }
  }

  async #resume (): Promise<void> {
    const { log, metrics, server } = this.#init

    if (server.state !== 'paused') {
      return
    }

    try {
      await server.resume(() => { this.update() })
      // connections may have come and gone meanwhile
      this.update()
    } catch (err: any) {
      log.error('error attempting to listen again on %s - %e', metrics.label, err)
      this.#tellListenError(err)
    }
  }

  #tellListenError (err: Error): void {
    try {
      this.#init.onListenError?.(err)
    } catch (thrown) {
      this.#init.log.error('onListenError threw - %e', thrown)
    }
  }
}
