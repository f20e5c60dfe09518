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
    throw new InvalidParametersError(printable(`${of} has no option ${path}${unknown[0]}. ${suggestion(unknown[0], path, rules)}`))
  }

  for (const [name, rule] of Object.entries(rules)) {
    checkOption(of, `${path}${name}`, Reflect.get(options, name), rule)
  }
}

/** The option that the caller may have meant: one of these, or one of an object among them */
function suggestion (name: string, path: string, rules: Rules): string {
  const known = Object.entries(rules).flatMap(([name, { options = {} }]) => [
    { name, full: `${path}${name}` },
    ...Object.keys(options).map(inner => ({ name: inner, full: `${path}${name}.${inner}` }))
  ])
  const [nearest] = known
    .map(one => ({ ...one, far: distance(name.toLowerCase(), one.name.toLowerCase()) }))
    .sort((a, b) => a.far - b.far)

  return nearest.far <= name.length / 2
    ? `Did you mean ${nearest.full}?`
    : `It has: ${Object.keys(rules).join(', ')}`
}

/** How many letters have to be added, removed or changed to make one name of the other; 1 if it is a part of the other */
function distance (from: string, to: string): number {
  if (from.length > 2 && from !== to && (to.includes(from) || from.includes(to))) {
    return 1
  }

  let row = Array.from({ length: to.length + 1 }, (_, i) => i)

  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]

    for (let j = 0; j < to.length; j++) {
      next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (from[i] === to[j] ? 0 : 1)))
    }

    row = next
  }

  return row[to.length]
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
