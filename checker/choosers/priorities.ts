import type { Random } from '../random.ts'
import type { Choice, ChoiceKind } from '../system.ts'
import type { Chooser } from './chooser.ts'
import { Origins } from './origins.ts'

const ordinary: readonly ChoiceKind[] = ['client', 'deliver', 'timer', 'restart', 'heal']

/**
 * Probabilistic concurrency testing: what goes on has random priorities, and the highest comes first; at a few random
 * steps what is first becomes last. A violation that needs d events in an order is met in a walk of k steps with n things
 * going on with a chance of about 1/(n k^(d-1)), whatever else happens (Burckhardt, Kothari, Musuvathi, Nagarakatte,
 * "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
 *
 * Threads have priorities there. Here it is activities: a message has that of the message whose delivery sent it (as in
 * Ozkan, Majumdar, Niksic, Befrouei, Weissenbacher, "Randomized Testing of Distributed Systems with Probabilistic
 * Guarantees", OOPSLA 2018); each timer and each call begins a new one.
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
    const possible = enabled.filter(({ kind }) => ordinary.includes(kind))
    const first = () => priorities.highest(possible, activityOf)
    const demoted = changes.has(step) ? first() : undefined
    if (demoted) priorities.demote(activityOf(demoted))
    const choice = first()
    if (choice) {
      // What begins anew, as a timer does, has another priority the next time.
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

  /** The first of those of the activity that comes first. */
  highest(choices: readonly Choice[], activityOf: (choice: Choice) => Activity): Choice | undefined {
    const values = choices.map(choice => this.#valueOf(activityOf(choice)))
    return choices[values.indexOf(Math.max(...values))]
  }

  /** It comes after all others from now on. */
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
