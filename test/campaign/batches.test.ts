import { expect, test } from 'vitest'
import { Batches } from '../../campaign/queue/batches.ts'
import { GivenUp, type QueueEngine } from '../../campaign/queue/engine.ts'
import type { Job, JobAnswer } from '../../campaign/queue/job.ts'
import type { TaskOutcome } from '../../checker/cells/task.ts'
import { Budget } from '../../checker/system/budget.ts'
import { Unfaithful } from '../../checker/system/errors.ts'
import { startAfter } from '../../checker/system/start.ts'

const poisonous = 2

/** Gives up each job that has the poisonous task, and answers with the variant of each other task. */
class PickyEngine implements QueueEngine {
  readonly width = 1
  readonly sizes: number[] = []

  async perform({ tasks }: Job): Promise<readonly JobAnswer[]> {
    this.sizes.push(tasks.length)
    if (tasks.some(({ variant }) => variant === poisonous)) throw new GivenUp('a job was given up')
    return tasks.map(({ variant }) => ({ outcome: { delayMs: variant } as TaskOutcome, notes: [] }))
  }

  async workers() {
    return []
  }

  async close() {}
}

test('of a job that is given up each task is tried by itself, so only a poisonous one is lost, which is noted', async () => {
  const engine = new PickyEngine()
  const notes: string[] = []
  const batches = new Batches({
    engine,
    config: 'a.config.ts',
    seed: 1,
    clocksStart: '2026-01-01T00:00:00Z',
    errorOf: failure => failure as Error,
    onNote: note => notes.push(note),
  })
  // The first job has one task, because nothing is known of how long they take.
  const [cell] = batches.cells(1, 0)
  const perform = (variant: number) => cell!.perform({ start: startAfter([]) }, variant, new Budget({}))
  for (let quick = 10; quick < 20; quick++) await perform(quick)
  engine.sizes.length = 0
  const ends = await Promise.allSettled([1, poisonous, 3].map(perform))
  expect(engine.sizes).toEqual([3, 1, 1, 1])
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((ends[1] as PromiseRejectedResult).reason).toBeInstanceOf(Unfaithful)
  expect(notes).toEqual(['a job was given up'])
})
