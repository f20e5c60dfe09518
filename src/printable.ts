import { isMultiaddr } from '@multiformats/multiaddr'
import type { ComponentLogger, Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** Control and format characters, line ends, halves of surrogate pairs: they move the cursor of a terminal or forge log lines */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Text that may come from a peer, fit to stand in a log line or an error
 * message. Addresses do: peers tell each other where to dial.
 */
export function printable (text: string): string {
  return text.replace(UNPRINTABLE, char => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/**
 * A logger for our own lines. It makes them printable if and when they are printed, the
 * messages of errors included: they may quote what a peer sent.
 */
export function printableLogger (logger: ComponentLogger): ComponentLogger {
  return {
    forComponent: name => printableLog(logger.forComponent(name))
  }
}

function printableLog (log: Logger): Logger {
  const ours = function (formatter: string, ...args: unknown[]): void {
    if (log.enabled) {
      log(formatter, ...args.map(toPrintable))
    }
  } as Logger

  // Assigned one by one: the upgrader makes a scope for every connection, and
  // `defineProperty` would make each a kilobyte larger
  ours.enabled = log.enabled
  ours.error = (formatter: string, ...args: unknown[]) => { log.error(formatter, ...args.map(toPrintable)) }
  // Its arguments are numbers only, and it is called for every message. That of @libp2p/logger needs no `this`, and
  // there are several loggers a connection.
  ours.trace = isOff(log.trace) ? log.trace : log.trace.bind(log)
  ours.newScope = name => printableLog(log.newScope(name))

  return ours
}

/** The logger of libp2p has a function that does nothing where trace is off */
function isOff (trace: Logger['trace'] & { enabled?: boolean }): boolean {
  return trace.enabled === false
}

function toPrintable (arg: unknown): unknown {
  if (typeof arg === 'string') {
    return printable(arg)
  }

  if (arg instanceof Error) {
    return printableError(arg)
  }

  return isMultiaddr(arg) ? printableMultiaddr(arg) : arg
}

function printableMultiaddr (ma: Multiaddr): Pick<Multiaddr, 'toString'> {
  return { toString: () => printable(ma.toString()) }
}

function printableError (err: Error): Error {
  return Object.create(err, {
    message: { get: () => printable(err.message) },
    stack: { get: () => printableStack(err) },
    errors: { get: () => err instanceof AggregateError ? err.errors.map(toPrintable) : undefined }
  })
}

/** The lines of a stack belong to it, except those that the message brings in */
function printableStack ({ message, stack = '' }: Error): string {
  return stack
    // a string would be a template, where `$&` of a peer stands for the whole message
    .replaceAll(message, () => printable(message))
    .split('\n')
    .filter((line, index) => index === 0 || /^ +at /.test(line))
    .map(printable)
    .join('\n')
}
