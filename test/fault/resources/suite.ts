import { churn } from './churn.ts'
import { soak } from './soak.ts'
import { workers } from './workers.ts'
import type { Suite } from '../scenario.ts'

export const resources: Suite = {
  name: 'resources',
  promise: 'Nothing leaks, whatever ended a connection',
  scenarios: [
    churn,
    workers,
    soak
  ]
}
