import { usualKinds } from '../happening/kinds.ts'
import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import type { Chooser } from './chooser.ts'
import { Origins } from './origins.ts'

/**
 * Probabilistic concurrency testing: activities get random priorities and the highest goes first; at a few random
 * steps, the first becomes the last. A walk of k steps over n activities meets a violation that needs d events in order
 * with a probability of about 1/(n k^(d-1)), whatever else happens (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A
 * Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
 *
 * In that paper threads have priorities. Here activities have them: a message has the priority of the message whose
 * delivery caused it (as in Ozkan, Majumdar, Niksic, Befrouei, Weissenbacher, "Randomized Testing of Distributed
 * Systems with Probabilistic Guarantees", OOPSLA 2018). Each timer and each call begins a new activity.
 *
 * @param length of the walk, in steps
 */
export const prioritised = (random: Random, length: number): Chooser => {
  const origins = new Origins()
  const priorities = new Priorities(random)
  const changes = new Set(Array.from({ length: random.few() - 1 }, () => random.below(length)))
  let step = 0
  return enabled => {
    origins.arrive(enabled)
    const activityOf = ({ label }: Choice) => origins.of(label) ?? label
    const possible = enabled.filter(({ kind }) => usualKinds.includes(kind))
    const first = () => priorities.highest(possible, activityOf)
    const demoted = changes.has(step) ? first() : undefined
    if (demoted) priorities.demote(activityOf(demoted))
    const choice = first()
    if (choice) {
      // A timer or call begins a new activity each time, so it draws a new priority.
      if (origins.of(choice.label) === undefined) priorities.forget(choice.label)
      origins.leave(choice)
    }
    step += 1
    return choice
  }
}

type Activity = number | string

class Priorities {
  readonly #random: Random
  readonly #values = new Map<Activity, number>()
  #lowest = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** The first choice of the activity with the highest priority. */
  highest(choices: readonly Choice[], activityOf: (choice: Choice) => Activity): Choice | undefined {
    const values = choices.map(choice => this.#valueOf(activityOf(choice)))
    return choices[values.indexOf(Math.max(...values))]
  }

  /** Gives an activity the lowest priority from now on. */
  demote(activity: Activity): void {
    this.#lowest -= 1
    this.#values.set(activity, this.#lowest)
  }

  forget(activity: Activity): void {
    this.#values.delete(activity)
  }

  #valueOf(activity: Activity): number {
    if (!this.#values.has(activity)) this.#values.set(activity, this.#random.next())
    return this.#values.get(activity)!
  }
}
