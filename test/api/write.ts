import { writeFile } from 'node:fs/promises'
import { REPORT, apiReport } from './report.ts'

await writeFile(REPORT, apiReport())
