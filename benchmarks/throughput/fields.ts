import type { Row } from './rows/row.ts'
import type { Contender, Level } from '../contenders/contender.ts'

/**
 * A row at one level, and who is measured there
 */
export interface Field {
  row: Row
  level: Level
  rivals: Contender[]
}

export function fieldsOf (rows: Row[], contenders: Contender[]): Field[] {
  return rows
    .flatMap(row => row.levels.map(level => ({ row, level, rivals: contenders.filter(contender => contender.level === level) })))
    .filter(({ rivals }) => rivals.length > 0)
}
