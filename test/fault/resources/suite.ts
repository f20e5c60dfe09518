import { churn } from './churn.ts'
import { descriptors } from './descriptors.ts'
import { maxConnections } from './max-connections.ts'
import { soak } from './soak.ts'
import { workers } from './workers.ts'
import type { Suite } from '../scenario.ts'

export const resources: Suite = {
  name: 'resources',
  promise: 'What a process runs short of brings it down neither at once nor in the long run: nothing leaks, limits hold, and the operator can see them reached',
  scenarios: [
    descriptors,
    maxConnections,
    churn,
    workers,
    soak
  ]
}
