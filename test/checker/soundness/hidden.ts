import { always } from '../../../checker/system/property.ts'
import { Model, type Transition } from '../systems/model.ts'

/** A node that counts what it gets; only whether the count is odd is seen of it. */
export interface Hidden {
  readonly count: number
  readonly isOver: boolean
}

/** @param limit the count at which it says that it is over; never, by default */
export const hiddenCounter = (limit = Number.POSITIVE_INFINITY): Model<Hidden> =>
  new Model<Hidden>(
    { count: 0, isOver: false },
    ({ count }): Transition<Hidden>[] => [
      { kind: 'timer', node: 'n', label: 'n timer', next: () => ({ count: count + 1, isOver: count + 1 === limit }) },
    ],
    {},
    ({ count, isOver }) => JSON.stringify([count % 2, isOver]),
  )

export const neverOver = always<Hidden>(({ isOver }) => !isOver)
