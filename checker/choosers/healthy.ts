import { way } from '../labels.ts'
import type { Random } from '../random.ts'
import type { Choice } from '../system.ts'
import type { Chooser } from './chooser.ts'

/**
 * A healthy network: every message arrives before anything else happens, none overtakes another on its way, and timers fire
 * in the order in which they would by one clock that all nodes go by, give or take a twentieth. What recovers in life
 * recovers here.
 */
export const healthy = (random: Random): Chooser => {
  const clock = new CommonClock(random)
  return enabled => {
    clock.see(enabled)
    const repair = enabled.find(({ kind }) => kind === 'restart' || kind === 'heal')
    const choice = repair ?? firstOfAWay(enabled, random) ?? enabled.find(isCall) ?? clock.first(enabled)
    if (choice) clock.leave(choice)
    return choice
  }
}

const isCall = ({ kind }: Choice): boolean => kind === 'client'

/** Deliveries of one way are enabled in the order of sending. */
const firstOfAWay = (enabled: readonly Choice[], random: Random): Choice | undefined => {
  const firsts = new Map<string, Choice>()
  for (const choice of enabled) {
    if (choice.kind !== 'deliver') continue
    const name = way(choice.label)
    if (!firsts.has(name)) firsts.set(name, choice)
  }
  return firsts.size > 0 ? random.pick([...firsts.values()]) : undefined
}

/**
 * When timers are due, if the clocks of all nodes went alike from the first step on. A node's own clock moves only when
 * one of its timers fires, so what it sets between is counted from now.
 */
class CommonClock {
  readonly #random: Random
  /** By label. */
  #due = new Map<string, number>()
  #nowMs = 0

  constructor(random: Random) {
    this.#random = random
  }

  see(enabled: readonly Choice[]): void {
    const due = new Map<string, number>()
    for (const { kind, label, afterMs = 1 } of enabled)
      if (kind === 'timer')
        due.set(label, this.#due.get(label) ?? this.#nowMs + afterMs * (1 + this.#random.next() / 20))
    this.#due = due
  }

  first(enabled: readonly Choice[]): Choice | undefined {
    let first: Choice | undefined
    for (const choice of enabled)
      if (choice.kind === 'timer' && (!first || this.#dueOf(choice) < this.#dueOf(first))) first = choice
    return first
  }

  leave({ kind, label }: Choice): void {
    if (kind !== 'timer') return
    this.#nowMs = Math.max(this.#nowMs, this.#due.get(label)!)
    this.#due.delete(label)
  }

  #dueOf({ label }: Choice): number {
    return this.#due.get(label)!
  }
}
