import net from 'node:net'

/**
 * As much of redis as the tests need: a command, and its reply. Forty lines here, or a package with five of its own in the
 * image; nothing else of redis is used.
 *
 * @see https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export class Redis {
  readonly #socket: net.Socket
  readonly #lines: AsyncIterator<string>

  /** @param address - `host:port`, or the path of a unix socket: that is how ends in network namespaces share one redis */
  constructor (address: string) {
    const [, host, port] = address.match(/^(.+):(\d+)$/) ?? []

    this.#socket = host == null ? net.connect(address) : net.connect(Number(port), host)
    this.#lines = lines(this.#socket)
  }

  /** One command at a time. Null stands for what does not exist */
  async command (...words: string[]): Promise<unknown> {
    this.#socket.write([`*${words.length}`, ...words.flatMap(word => [`$${Buffer.byteLength(word)}`, word])].join('\r\n') + '\r\n')

    return this.#reply()
  }

  close (): void {
    this.#socket.destroy()
  }

  async #reply (): Promise<unknown> {
    const line = await this.#line()
    const rest = line.slice(1)

    switch (line[0]) {
      case '-': throw new Error(`redis: ${rest}`)
      case ':': return Number(rest)
      case '$': return rest === '-1' ? null : this.#line()
      case '*': return rest === '-1' ? null : this.#replies(Number(rest))
      default: return rest
    }
  }

  async #replies (count: number): Promise<unknown[]> {
    const replies: unknown[] = []

    while (replies.length < count) {
      replies.push(await this.#reply())
    }

    return replies
  }

  async #line (): Promise<string> {
    const { done, value } = await this.#lines.next()

    if (done === true) {
      throw new Error('redis has closed the connection')
    }

    return value
  }
}

/** What the tests keep in redis holds no line ends */
async function * lines (socket: net.Socket): AsyncGenerator<string> {
  let rest = ''

  for await (const chunk of socket.setEncoding('utf8')) {
    const parts = `${rest}${chunk}`.split('\r\n')

    rest = parts.pop() ?? ''
    yield * parts
  }
}
