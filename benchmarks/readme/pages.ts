import { connectPage } from '../connect/page.ts'
import { throughputPage } from '../throughput/page.ts'
import type { Results } from '../report/results.ts'
import type { Report } from '../series.ts'

const PAGES: Record<string, (report: any) => Results<any>> = {
  connect: connectPage,
  throughput: throughputPage
}

/** What a report comes to, of whichever benchmark it is */
export function pageOf (report: Report): Results {
  return PAGES[report.benchmark](report)
}
