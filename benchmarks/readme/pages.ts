import { addressesPage } from '../addresses/page.ts'
import { connectPage } from '../connect/page.ts'
import { loadPage } from '../load/page.ts'
import { naglePage } from '../nagle/page.ts'
import { scalePage } from '../scale/page.ts'
import { throughputPage } from '../throughput/page.ts'
import type { Results } from '../report/results.ts'
import type { Report } from '../series.ts'

const PAGES: Record<string, (report: any) => Results<any>> = {
  addresses: addressesPage,
  connect: connectPage,
  load: loadPage,
  nagle: naglePage,
  scale: scalePage,
  throughput: throughputPage
}

/** What a report comes to, of whichever benchmark it is. The soak draws its chart itself */
export function pageOf (report: Report): Results {
  return PAGES[report.benchmark]?.(report) ?? { report, title: report.benchmark, about: '', sections: [], charts: {} }
}
