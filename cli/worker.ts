import { Budget } from '../checker/budget.ts'
import { OwnCell } from '../checker/cell.ts'
import { select } from '../checker/check.ts'
import type { Outcome, Task } from '../checker/task.ts'
import { type Failure, failureOf } from './failure.ts'
import { loadConfig } from './load-config.ts'
import { inSession, type Session } from './session.ts'

/** What a worker is sent first. */
export interface Order {
  readonly file: string
  /** Of the nodes' randomness. */
  readonly seed: number | undefined
  /** Evaluates this property alone. */
  readonly property: string | undefined
  /** The CPU that it holds its nodes on. */
  readonly cpu: number
}

/** What it is sent then, each when the one before has been answered; and `'cancel'`, which ends the one that it does. */
export interface Demand {
  readonly task: Task
  readonly variant: number
  /** Time for it; infinite where nothing limits it. */
  readonly milliseconds: number
}

/** What a worker answers. The first answer without being asked is a failure: it cannot begin. */
export type Answer = { readonly outcome: Outcome } | { readonly failure: Failure }

/** The program of a worker: a cell for a search in another process, until that ends or lets go of it. */
const work = async ({ file, seed, property, cpu }: Order): Promise<void> => {
  const config = await loadConfig(file)
  await inSession(config, { seed, cpu }, session => serve(session, property))
}

const serve = ({ cluster, system }: Session, property: string | undefined): Promise<void> => {
  const cell = new OwnCell(cluster, select(system.properties, property), { weights: system.weights })
  let abort = new AbortController()
  let last: Promise<void> = Promise.resolve()
  const perform = async ({ task, variant, milliseconds }: Demand) => {
    abort = new AbortController()
    try {
      await send({ outcome: await cell.perform(task, variant, new Budget({ milliseconds, signal: abort.signal })) })
    } catch (error) {
      await send({ failure: failureOf(error) })
    }
  }
  return new Promise(resolve => {
    process.on('message', message => {
      if (message === 'cancel') abort.abort()
      else last = perform(message as Demand)
    })
    process.once('disconnect', () => {
      abort.abort()
      resolve(last)
    })
  })
}

/** Nobody is left to hear it where the parent has ended. */
const send = (answer: Answer) =>
  new Promise<void>(resolve => (process.connected ? process.send!(answer, () => resolve()) : resolve()))

process.once('message', async order => {
  await work(order as Order).catch(error => send({ failure: failureOf(error) }))
  process.exit()
})
