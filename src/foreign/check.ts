import { FOREIGN, IDENTITIES } from './list.ts'
import type { Foreign, ForeignName, IdentityName } from './list.ts'

/** `code` of the warnings, for programs that listen for 'warning' of `process` */
export const MISSING_MEMBER = 'LIBP2P_FAST_TCP_MISSING_MEMBER'

const warned = new Set<string>()

/**
 * Whether an object that is not ours has all that is replaced on it or relied on. If not, do
 * without the feature. The first time a warning of the process says what is missing.
 */
export function hasMembers (name: ForeignName, object: object): boolean {
  const missing = missingMembers(name, object)

  if (missing.length > 0) {
    const { feature, object, from } = FOREIGN[name]

    warnOnce(name, `${sentence(feature)} is off: the ${object} has no ${missing.join(', ')}. This version of ${from} does not fit`)
  }

  return missing.length === 0
}

/** What an object that is not ours lacks of what is replaced on it or relied on */
export function missingMembers (name: ForeignName, object: object): string[] {
  const { uses, replaces }: Foreign = FOREIGN[name]
  const missing: string[] = []

  for (const member in uses) {
    // eslint-disable-next-line valid-typeof
    if (typeof Reflect.get(object, member) !== uses[member]) {
      missing.push(member)
    }
  }

  for (const method of replaces) {
    if (!(method in uses) && typeof Reflect.get(object, method) !== 'function') {
      missing.push(method)
    }
  }

  return missing
}

/** Warns once if two properties are not the same object, which the caller has found out */
export function expectIdentity (name: IdentityName, holds: boolean): void {
  if (!holds) {
    const { feature, identity, from } = IDENTITIES[name]

    warnOnce(name, `${sentence(feature)} is off, because ${identity} does not hold. This version of ${from} does not fit`)
  }
}

/** One warning of the process for each key */
export function warnOnce (key: string, message: string): void {
  if (!warned.has(key)) {
    warned.add(key)
    process.emitWarning(message, { code: MISSING_MEMBER })
  }
}

function sentence (text: string): string {
  return text[0].toUpperCase() + text.slice(1)
}
