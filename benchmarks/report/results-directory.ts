import path from 'node:path'
import { packageRoot } from '../script-path.ts'

/**
 * In the source tree, also when run from `dist`.
 */
export const RESULTS = path.join(packageRoot(), 'benchmarks', 'results')
