import { abort } from './abort/suite.ts'
import { blackHole } from './black-hole/suite.ts'
import { hostile } from './hostile/suite.ts'
import { integrity } from './integrity/suite.ts'
import { kill } from './kill/suite.ts'
import { lossy } from './lossy/suite.ts'
import { resources } from './resources/suite.ts'
import { blockedLoop } from './stall/suite.ts'
import type { Suite } from './scenario.ts'

/** All that is done to the transport */
export const suites: Suite[] = [integrity, lossy, kill, blackHole, blockedLoop, abort, hostile, resources]
