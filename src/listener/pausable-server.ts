import dns from 'node:dns/promises'
import net from 'node:net'
import { pEvent } from 'p-event'
import { raceSignal } from 'race-signal'
import type { Endpoint } from '../addresses.ts'
import type { BindServer } from '../connector.ts'
import type { AddressInfo, ListenOptions, Server } from 'node:net'

/** How long a paused listener waits before it tries its port again, if another process took it, in ms. */
const RELISTEN_INTERVAL = 1_000

/**
 * - `idle`: never listened, or could not
 * - `listening`: has its address, or is about to take it
 * - `paused`: gave its address up for a while; its accepted connections live on
 * - `closed`: for good
 */
export type ServerState = 'idle' | 'listening' | 'paused' | 'closed'

/**
 * A `net.Server` that can give up its address and take the same one again, even if the
 * kernel chose the port.
 */
export class PausableServer {
  readonly #server: Server
  readonly #bindServer: BindServer

  /** Ends attempts to listen when the server is closed: Node emits nothing then */
  readonly #closing = new AbortController()

  #state: ServerState = 'idle'
  #listenOptions: ListenOptions = {}
  #retryTimer?: NodeJS.Timeout

  constructor (server: Server, bind: BindServer = (server, options) => { server.listen(options) }) {
    this.#server = server
    this.#bindServer = bind
  }

  get state (): ServerState {
    return this.#state
  }

  /** The address, or null when it does not listen. `net.Server` would still report a unix socket that it gave up or never got */
  address (): AddressInfo | string | null {
    return this.#state === 'listening' ? this.#server.address() : null
  }

  /**
   * @throws {AbortError} if the server is closed meanwhile
   * @throws {Error} Node's error if the address cannot be listened on
   */
  async listen (endpoint: Endpoint, options: ListenOptions): Promise<void> {
    this.#state = 'listening'

    try {
      // a look-up may take longer than a caller of `close` waits
      const where = await raceSignal(toListenOptions(endpoint), this.#closing.signal)

      this.#listenOptions = { ...where, ...options }
      await this.#bind()
    } catch (err) {
      this.#leave('listening', 'idle')
      throw err
    }
  }

  /** @returns whether the address was given up */
  pause (): boolean {
    if (this.#state !== 'listening' || !this.#server.listening) {
      return false
    }

    this.#state = 'paused'
    this.#server.close()

    return true
  }

  /**
   * Take the address again. If another process has it, this throws, and `retry` is called
   * later.
   *
   * @throws {Error} Node's error if the address cannot be listened on
   */
  async resume (retry: () => void): Promise<void> {
    this.#state = 'listening'
    clearTimeout(this.#retryTimer)

    try {
      await this.#bind()
    } catch (err) {
      if (this.#leave('listening', 'paused')) {
        // it keeps the process alive, as the server will
        this.#retryTimer = setTimeout(retry, RELISTEN_INTERVAL)
        throw err
      }
    }
  }

  /**
   * Stop listening for good. Resolves when all accepted connections are closed.
   */
  async close (): Promise<void> {
    const closed = this.#server.listening ? pEvent(this.#server, 'close', { rejectionEvents: [] }) : undefined

    this.#state = 'closed'
    clearTimeout(this.#retryTimer)
    this.#closing.abort()
    this.#server.close()

    await closed
  }

  async #bind (): Promise<void> {
    this.#closing.signal.throwIfAborted()

    // p-event would leave a listener on the signal after each wait
    const listening = pEvent(this.#server, 'listening')

    try {
      this.#bindServer(this.#server, this.#listenOptions)
      await raceSignal(listening, this.#closing.signal)
    } finally {
      listening.cancel()
    }

    const address = this.#server.address()

    if (address != null && typeof address !== 'string') {
      this.#listenOptions = { ...this.#listenOptions, port: address.port }
    }
  }

  /** An attempt failed, unless the server was closed meanwhile */
  #leave (from: ServerState, to: ServerState): boolean {
    if (this.#state !== from) {
      return false
    }

    this.#state = to

    return true
  }
}

/** `net.Server` knows no address families: look the name up first if the address names a family */
async function toListenOptions (endpoint: Endpoint): Promise<ListenOptions> {
  if ('path' in endpoint) {
    return { path: endpoint.path }
  }

  const { host, port, family } = endpoint
  const { address } = net.isIP(host) === 0 ? await dns.lookup(host, { family }) : { address: host }

  return { host: address, port, ipv6Only: family === 6 }
}
