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

/**
 * @throws {Error} where there is nothing to measure
 */
export function fieldsOf (rows: Row[], contenders: Contender[]): Field[] {
  const fields = rows
    .flatMap(row => row.levels.map(level => ({ row, level, rivals: contenders.filter(contender => contender.level === level) })))
    .filter(({ rivals }) => rivals.length > 0)

  if (fields.length === 0) {
    throw new Error(`Of ${rows.map(({ name, levels }) => `${name} (${levels.join(' and ')} level)`).join(', ')} nothing can be measured with the chosen rivals and levels`)
  }

  return fields
}
