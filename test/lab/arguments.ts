import { statSync } from 'node:fs'
import net from 'node:net'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { InvalidArgumentError } from 'commander'

/** Readers of what is typed behind an option. They throw an InvalidArgumentError that says what is wanted. */

export function numberFrom (least: number): (value: string) => number {
  return value => {
    const number = Number(value)

    if (value.trim() === '' || !Number.isFinite(number) || number < least) {
      throw new InvalidArgumentError(`It must be a number, ${least} or more.`)
    }

    return number
  }
}

export function wholeFrom (least: number): (value: string) => number {
  return value => {
    const number = numberFrom(least)(value)

    if (!Number.isSafeInteger(number)) {
      throw new InvalidArgumentError('It must be a whole number.')
    }

    return number
  }
}

export function oneOf <T extends string> (choices: readonly T[]): (value: string) => T {
  return value => {
    const choice = choices.find(choice => choice === value)

    if (choice == null) {
      throw new InvalidArgumentError(`There are ${choices.join(', ')}.`)
    }

    return choice
  }
}

/** Several with commas between them, each once. */
export function listOf <T> (one: (value: string) => T): (value: string) => T[] {
  return value => [...new Set(value.split(',').map(item => one(item.trim())))]
}

export function localAddress (value: string): string {
  const own = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? []).map(({ address }) => address)

  // all of 127.0.0.0/8 are loopback
  if (net.isIP(value) === 0 || !(['0.0.0.0', '::', ...own].includes(value) || value.startsWith('127.'))) {
    throw new InvalidArgumentError(`It must be an IP address of this machine: 0.0.0.0, ::, ${own.join(', ')}.`)
  }

  return value
}

export function directory (value: string): string {
  let existing = path.resolve(value)
  let stats = statSync(existing, { throwIfNoEntry: false })

  while (stats == null) {
    existing = path.dirname(existing)
    stats = statSync(existing, { throwIfNoEntry: false })
  }

  if (!stats.isDirectory()) {
    throw new InvalidArgumentError(`${existing} is no directory.`)
  }

  return value
}
