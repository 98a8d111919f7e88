import {
  type Arrival,
  isOfNode,
  type NodeOutcome,
  type NodeTask,
  type Task,
  type TaskOutcome,
} from '../../checker/cells/task.ts'
import { labelsOf } from '../../checker/system/labels.ts'
import type { NodeStart, Start } from '../../checker/system/start.ts'
import type { Choice } from '../../checker/system/system.ts'

/** A list: as many of the first elements of a known one, and others after them. */
interface Continued<Element> {
  readonly same: number
  readonly others: readonly Element[]
}

type AfterSchedule = Extract<Start, { readonly at: 'schedule' }>
type SentStart = Start | (Omit<AfterSchedule, 'labels'> & { readonly after: Continued<string> })

type SentNodeStart = Omit<NodeStart, 'after'> & { readonly begin: Continued<string> }

/** A task on its way to a worker. */
export type SentTask = { readonly start: SentNodeStart } | (Omit<Task, 'start'> & { readonly start: SentStart })

/** The fields of an outcome with an entry for each step: nearly all of it. */
interface Steps {
  readonly schedule: readonly Choice[]
  readonly fingerprints: readonly (string | undefined)[]
  readonly offered: readonly number[]
}

/** An outcome on its way back. */
export type SentOutcome =
  | NodeOutcome
  | (Omit<TaskOutcome, 'schedule' | 'fingerprints' | 'arrival'> & {
      readonly arrival: Omit<Arrival, 'offered'>
      readonly steps: { readonly [Each in keyof Steps]: Continued<Steps[Each][number]> }
    })

/**
 * What a worker and the process that gives it tasks both know: the steps of the last outcome, and the schedule to which nodes
 * alone last began. Executions of a search
 * have a long beginning in common. In a long run these are hundreds of thousands of steps, and sending them would take
 * seconds.
 */
export class InCommon {
  #steps: Steps = { schedule: [], fingerprints: [], offered: [] }
  #begin: readonly string[] = []

  taskToSend(task: Task | NodeTask): SentTask {
    if (isOfNode(task)) {
      const { after, ...start } = task.start
      const begin = after === this.#begin ? { same: after.length, others: [] } : continued(after, this.#begin)
      this.#begin = after
      return { start: { ...start, begin } }
    }
    if (task.start.at !== 'schedule') return task as SentTask
    const { labels, ...start } = task.start
    return { ...task, start: { ...start, after: continued(labels, labelsOf(this.#steps.schedule)) } }
  }

  taskReceived(task: SentTask): Task | NodeTask {
    const { start } = task
    if ('begin' in start) {
      const { begin, ...others } = start
      if (begin.others.length > 0 || begin.same !== this.#begin.length) this.#begin = whole(begin, this.#begin)
      return { start: { ...others, after: this.#begin } }
    }
    if (!('after' in start)) return task as Task
    const { after, ...others } = start
    return {
      ...(task as Omit<Task, 'start'>),
      start: { ...others, labels: whole(after, labelsOf(this.#steps.schedule)) },
    }
  }

  outcomeToSend(outcome: TaskOutcome | NodeOutcome): SentOutcome {
    if (!('schedule' in outcome)) return outcome
    const { schedule, fingerprints, arrival, ...others } = outcome
    const { offered, ...arrived } = arrival
    const known = this.#steps
    this.#steps = { schedule, fingerprints, offered }
    // Choices of executions that began at the same saved state are the same objects, so no others need to be compared.
    const steps = {
      schedule: continued(schedule, known.schedule),
      fingerprints: continued(fingerprints, known.fingerprints),
      offered: continued(offered, known.offered),
    }
    return { ...others, arrival: arrived, steps }
  }

  outcomeReceived(sent: SentOutcome): TaskOutcome | NodeOutcome {
    if (!('steps' in sent)) return sent
    const { steps, arrival, ...others } = sent
    const known = this.#steps
    const schedule = whole(steps.schedule, known.schedule)
    const fingerprints = whole(steps.fingerprints, known.fingerprints)
    const offered = whole(steps.offered, known.offered)
    this.#steps = { schedule, fingerprints, offered }
    return { ...others, schedule, fingerprints, arrival: { ...arrival, offered } }
  }
}

const continued = <Element>(list: readonly Element[], known: readonly Element[]): Continued<Element> => {
  const most = Math.min(list.length, known.length)
  let same = 0
  while (same < most && list[same] === known[same]) same += 1
  return { same, others: list.slice(same) }
}

const whole = <Element>({ same, others }: Continued<Element>, known: readonly Element[]): readonly Element[] =>
  known.slice(0, same).concat(others)
