import { isMultiaddr } from '@multiformats/multiaddr'
import { printable } from './printable.ts'
import type { ComponentLogger, Logger } from '@libp2p/interface'

/** How much of one text is printed, in characters. To print 10 MB of a message would stop the event loop */
const MAX_TEXT = 64 * 1024

/** How many errors of an argument are printed: one may hold others, and itself */
const MAX_ERRORS = 50

const UNREADABLE = '[unreadable]'

const safe = Symbol('libp2p-fast-tcp/safe-logger')

type Print = (formatter: any, ...args: any[]) => void

/** Levels of the logger of libp2p say whether they are on. Those of others need not */
interface Level extends Print {
  enabled?: boolean
}

/** It knows the logger that it guards */
type SafeLogger = Logger & { [safe](): Logger }

/** Whether a logger is on may change. An accessor of each would take a kilobyte */
const shared = Object.create(Function.prototype, {
  enabled: {
    get (this: SafeLogger) { return this[safe]().enabled },
    set (this: SafeLogger, isEnabled: boolean) { this[safe]().enabled = isEnabled }
  }
})

const off: Level = Object.assign(() => {}, { enabled: false })

/** As {@link safeLog}, for all that the logger makes */
export function safeLogger (logger: ComponentLogger): ComponentLogger {
  return {
    forComponent: name => safeLog(logger.forComponent(name))
  }
}

/**
 * A logger that never throws, whatever it is given and whatever `log` does: base classes log in the midst of their changes
 * of state. What it prints cannot move the cursor of a terminal or forge a line, the messages of errors included: they may
 * quote what a peer sent. Nothing is made printable for a level that is off.
 */
export function safeLog (log: Logger): Logger {
  if (safe in log) {
    return log
  }

  // Assigned one by one: the upgrader makes a scope for every connection, and
  // `defineProperty` would make each a kilobyte larger
  const ours: SafeLogger = Object.setPrototypeOf((...args: unknown[]) => { print(log, log, args) }, shared)

  ours[safe] = () => log
  ours.error = (...args) => { print(log, log.error, args) }
  // the logger of libp2p has a function that does nothing where trace is off, and trace is called for every message
  ours.trace = isOff(log.trace) ? log.trace : (...args) => { print(log, log.trace, args) }
  ours.newScope = name => safeLog(scopeOf(log, name))

  return ours
}

/**
 * As `log.newScope`, for objects of which there are many: a logger of libp2p takes three kilobytes. One that is off may be
 * forgotten, and is made again when something is logged, since `debug.enable` may turn it on.
 */
export function spareScope (log: Logger, name: string): Logger {
  const parent = safe in log ? (log as SafeLogger)[safe]() : log
  const made = scopeOf(parent, name)

  if (![made, made.error, made.trace].every(isOff)) {
    return safeLog(made)
  }

  let kept = new WeakRef(made)

  function scope (): Logger {
    let made = kept.deref()

    if (made == null) {
      made = scopeOf(parent, name)
      kept = new WeakRef(made)
    }

    return made
  }

  const spare: SafeLogger = Object.setPrototypeOf((...args: unknown[]) => { print(scope(), scope(), args) }, shared)

  spare[safe] = scope
  spare.error = (...args) => { print(scope(), scope().error, args) }
  spare.trace = off
  spare.newScope = name => safeLog(scopeOf(scope(), name))

  return spare
}

/** @returns the log itself if it has none to give */
function scopeOf (log: Logger, name: string): Logger {
  try {
    const scope = log.newScope(name)

    return typeof scope === 'function' ? scope : log
  } catch {
    return log
  }
}

/** The logger of libp2p says `undefined` until some logger of the process is turned on */
function isOff (level?: Level): boolean {
  try {
    return level != null && 'enabled' in level && level.enabled !== true
  } catch {
    return false
  }
}

function print (log: Logger, level: Level, args: unknown[]): void {
  try {
    if (!isOff(level)) {
      Reflect.apply(level, log, args.map((arg, i) => i === 0 && typeof arg === 'string' ? arg : toPrintable(arg)))
    }
  } catch {
    // the line is lost
  }
}

function toPrintable (arg: unknown, seen = new Set<unknown>()): unknown {
  try {
    if (typeof arg === 'string') {
      return textOf(() => arg)
    }

    if (arg instanceof Error) {
      return seen.has(arg) || seen.size === MAX_ERRORS ? '[and so on]' : printableError(arg, seen.add(arg))
    }

    return isMultiaddr(arg) ? { toString: () => textOf(() => arg) } : arg
  } catch {
    // a proxy
    return UNREADABLE
  }
}

/** Reads what there is to print now and only once: getters of an error may throw, or be of use to its own class alone */
function printableError (err: Error, seen: Set<unknown>): Error {
  const message = textOf(() => err.message)
  const errors = errorsOf(err)?.slice(0, MAX_ERRORS).map(inner => toPrintable(inner, seen))

  return Object.create(err, {
    name: { value: textOf(() => err.name) },
    message: { value: message },
    stack: { value: stackOf(err, message) },
    errors: { value: errors }
  })
}

function errorsOf (err: Error & { errors?: unknown }): unknown[] | undefined {
  try {
    return Array.isArray(err.errors) ? err.errors : undefined
  } catch {
    // then it is printed without them
  }
}

function textOf (read: () => unknown): string | undefined {
  try {
    const value = read()

    return value == null ? undefined : cut(String(value))
  } catch {
    return UNREADABLE
  }
}

function cut (text: string): string {
  return printable(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text)
}

/** The lines of a stack belong to it, except those that the message brings in */
function stackOf (err: Error, message = ''): string | undefined {
  try {
    const { message: raw, stack } = err

    // a string would be a template, where `$&` of a peer stands for the whole message
    return stack?.replaceAll(raw, () => message)
      .slice(0, 2 * MAX_TEXT)
      .split('\n')
      .filter((line, index) => index === 0 || /^ +at /.test(line))
      .map(printable)
      .join('\n')
  } catch {
    return message
  }
}
