import { InvalidParametersError } from '@libp2p/interface'
import { printable } from './printable.ts'

/** What the value of an option must be */
export interface Rule {
  /** For the error: 'true or false' */
  readonly mustBe: string
  readonly isRequired?: boolean

  /** The rules of its own options, where the value is an object */
  readonly options?: Rules

  /** Whether the object may have options that no rule is about */
  readonly isOpen?: boolean

  holds(value: unknown): boolean
}

export type Rules = Readonly<Record<string, Rule>>

export const aBoolean: Rule = { mustBe: 'true or false', holds: value => typeof value === 'boolean' }
export const aFunction: Rule = { mustBe: 'a function', holds: value => typeof value === 'function' }

/** Infinity is a number too: it means no limit */
export function aNumber (from: number): Rule {
  return { mustBe: `a number, ${from} or more`, holds: value => typeof value === 'number' && value >= from }
}

/** The longest delay of Node's timers, in ms: 24.8 days. Longer timeouts are cut to this */
export const MAX_TIMEOUT = 2 ** 31 - 1

export function milliseconds (from: number): Rule {
  return { ...aNumber(from), mustBe: `${from} or more milliseconds` }
}

/** The longest whole number that Node and the kernel take */
const MAX_INT = 2 ** 31 - 1

export function aWholeNumber (from: number, to = MAX_INT): Rule {
  return {
    mustBe: `a whole number from ${from} to ${to}`,
    holds: value => typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to
  }
}

export function oneOf (...values: unknown[]): Rule {
  return { mustBe: `one of ${values.map(shown).join(', ')}`, holds: value => values.includes(value) }
}

/** An object with these options. If it is open, also with others, which somebody else knows */
export function anObject (options: Rules, isOpen?: 'open'): Rule {
  return { mustBe: 'an object', options, isOpen: isOpen === 'open', holds: isObject }
}

/**
 * Checks what a caller of `of` has passed. An option that is null or undefined counts as absent.
 *
 * @throws {InvalidParametersError} that names the first option with a wrong value or name
 */
export function checkOptions (of: string, options: unknown, rules: Rules): void {
  if (options != null && !isObject(options)) {
    throw new InvalidParametersError(`${of} takes an object of options, not ${shown(options)}`)
  }

  checkAll(of, '', options ?? {}, rules)
}

/**
 * @throws {InvalidParametersError} if the value is wrong
 */
export function checkOption (of: string, name: string, value: unknown, rule: Rule): void {
  if (value == null && rule.isRequired !== true) {
    return
  }

  if (!rule.holds(value)) {
    throw new InvalidParametersError(`The option ${name} of ${of} must be ${rule.mustBe}, not ${shown(value)}`)
  }

  if (rule.options != null && isObject(value)) {
    checkAll(of, `${name}.`, value, rule.options, rule.isOpen)
  }
}

function checkAll (of: string, path: string, options: object, rules: Rules, isOpen = false): void {
  const unknown = Object.entries(options).find(([name, value]) => value != null && !Object.hasOwn(rules, name))

  if (unknown != null && !isOpen) {
    throw new InvalidParametersError(printable(`${of} has no option ${path}${unknown[0]}. It has: ${Object.keys(rules).join(', ')}`))
  }

  for (const [name, rule] of Object.entries(rules)) {
    checkOption(of, `${path}${name}`, Reflect.get(options, name), rule)
  }
}

function isObject (value: unknown): value is object {
  return typeof value === 'object' && value != null && !Array.isArray(value)
}

/** A value as the caller wrote it, and its type where that is what is wrong with it */
function shown (value: unknown): string {
  switch (typeof value) {
    case 'string': return `'${printable(value.slice(0, 100))}' (a string)`
    case 'bigint': return `${value}n (a bigint)`
    case 'function': return 'a function'
    case 'symbol': return 'a symbol'
    case 'object': return shownObject(value)
    default: return `${value}`
  }
}

function shownObject (value: object | null): string {
  if (value == null) {
    return 'null'
  }

  return Array.isArray(value) ? 'an array' : 'an object'
}
