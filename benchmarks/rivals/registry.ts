import { rival as floor } from './floor/index.ts'
import { rival as go } from './go/index.ts'
import { rival as official } from './official/index.ts'
import { rival as ours } from './ours/index.ts'
import { rival as recipe } from './recipe/index.ts'
import { rival as rust } from './rust/index.ts'
import { rival as transport } from './transport/index.ts'
import { rival as v10 } from './v10/index.ts'
import { rival as v9 } from './v9/index.ts'
import type { Rival } from './rival.ts'

/**
 * Every rival, in the order in which tables list them
 */
export const rivals: Rival[] = [floor, v9, v10, official, recipe, transport, ours, go, rust]

export function rivalNamed (name: string): Rival {
  const rival = rivals.find(rival => rival.name === name)

  if (rival == null) {
    throw new Error(`No rival is named "${name}": there are ${rivals.map(rival => rival.name).join(', ')}`)
  }

  return rival
}
