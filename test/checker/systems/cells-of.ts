import { OwnCell } from '../../../checker/cells/cell.ts'
import { Cells } from '../../../checker/cells/cells.ts'
import type { Properties } from '../../../checker/cells/executor.ts'
import type { System } from '../../../checker/system/system.ts'

/** Cells for a search, each with a system of its own; one where there is but one. */
export const cellsOf = <State>(
  system: System<State> | readonly System<State>[],
  properties: Properties<State>,
): Cells => Cells.of([system].flat().map(each => new OwnCell(each, properties)))
