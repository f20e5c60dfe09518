import { floods } from './floods.ts'
import { garbage } from './garbage.ts'
import { slowloris } from './slowloris.ts'
import type { Suite } from '../scenario.ts'

export const hostile: Suite = {
  name: 'hostile',
  promise: 'A peer that means harm is cut in time, takes at most 256 KiB of our memory until then, and harms neither other peers nor the log',
  scenarios: [
    ...garbage,
    ...floods,
    slowloris
  ]
}
