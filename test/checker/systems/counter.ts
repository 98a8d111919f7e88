import { always } from '../../../checker/system/property.ts'
import { Model, type ModelOptions, type Transition } from './model.ts'

/** Processes that each add one to a counter, by a read and then a write. */
export interface Counter {
  readonly counter: number
  /** By process: what it has read, or `null` before, or `done`. */
  readonly read: readonly (number | null | 'done')[]
}

export const counter = (processes: number, options?: ModelOptions): Model<Counter> =>
  new Model<Counter>({ counter: 0, read: Array(processes).fill(null) }, transitions, options)

const transitions = ({ counter, read }: Counter): Transition<Counter>[] =>
  read.flatMap((seen, i) => {
    if (seen === 'done') return []
    const node = `p${i + 1}`
    const label = seen === null ? `${node} read` : `${node} write`
    const next = () =>
      seen === null ? { counter, read: read.with(i, counter) } : { counter: seen + 1, read: read.with(i, 'done') }
    return [{ kind: 'timer', node, label, next }]
  })

/** Once all are done, no addition is lost. */
export const nothingLost = always<Counter>(
  ({ counter, read }) => read.some(seen => seen !== 'done') || counter === read.length,
)
