import { wayOf } from '../likeness.ts'
import type { Random } from '../random.ts'
import type { Choice } from '../system.ts'
import type { Chooser } from './chooser.ts'

/** After so many inputs without a timer, one fires: two nodes may send to each other for ever. */
const inputsMax = 128

/**
 * A healthy network: every message arrives before anything else happens, none overtakes another on its way, and timers fire
 * in the order in which they would by one clock that all nodes go by, give or take a twentieth. What recovers in life
 * recovers here.
 *
 * @param seed of which nodes it is assumed that they set their timers anew with each input: see `healthySeed`
 */
export const healthy = (random: Random, seed: number): Chooser => {
  const clock = new CommonClock(random, settingShares[seed % settingShares.length]!)
  let inputs = 0
  return enabled => {
    clock.see(enabled)
    const repair = enabled.find(({ kind }) => kind === 'restart' || kind === 'heal')
    const input = inputs < inputsMax ? (firstOfAWay(enabled, random) ?? enabled.find(isCall)) : undefined
    const choice = repair ?? input ?? clock.first(enabled) ?? firstOfAWay(enabled, random) ?? enabled.find(isCall)
    inputs = choice === undefined || choice.kind === 'timer' ? 0 : inputs + 1
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
    const name = wayOf(choice)
    if (!firsts.has(name)) firsts.set(name, choice)
  }
  return firsts.size > 0 ? random.pick([...firsts.values()]) : undefined
}

/** Of the nodes, the share that sets its timers anew with each input: all, none, or some. */
const settingShares = [1, 0, 0.5] as const

/** A seed like this one: with the first of such walks all nodes set their timers anew, with the second none, with the third some. */
export const healthySeed = (seed: number, ordinal: number): number =>
  seed - (seed % settingShares.length) + (ordinal % settingShares.length)

/**
 * When timers are due, if the clocks of all nodes went alike from the first step on. A node's own clock moves only when
 * one of its timers fires, so what it sets between is counted from now. For the same reason a timer that is set anew for the
 * same time, as by whoever waits for the next heartbeat, looks like one that goes on: which nodes do so is assumed.
 */
class CommonClock {
  readonly #random: Random
  readonly #settingShare: number
  /** By node, whether it sets its timers anew with each input. */
  readonly #isSetting = new Map<string, boolean>()
  /** By label. */
  #due = new Map<string, number>()
  /** The node that the last input entered, where that sets its timers anew. */
  #set: string | undefined
  #nowMs = 0

  constructor(random: Random, settingShare: number) {
    this.#random = random
    this.#settingShare = settingShare
  }

  see(enabled: readonly Choice[]): void {
    const due = new Map<string, number>()
    for (const { kind, node, label, afterMs = 1 } of enabled) {
      if (kind !== 'timer') continue
      const known = node === this.#set ? undefined : this.#due.get(label)
      due.set(label, known ?? this.#nowMs + afterMs * (1 + this.#random.next() / 20))
    }
    this.#due = due
  }

  first(enabled: readonly Choice[]): Choice | undefined {
    let first: Choice | undefined
    for (const choice of enabled)
      if (choice.kind === 'timer' && (!first || this.#dueOf(choice) < this.#dueOf(first))) first = choice
    return first
  }

  leave({ kind, node, label }: Choice): void {
    this.#set = kind !== 'timer' && this.#setsAnew(node) ? node : undefined
    if (kind !== 'timer') return
    this.#nowMs = Math.max(this.#nowMs, this.#due.get(label)!)
    this.#due.delete(label)
  }

  #setsAnew(node: string): boolean {
    if (!this.#isSetting.has(node)) this.#isSetting.set(node, this.#random.next() < this.#settingShare)
    return this.#isSetting.get(node)!
  }

  #dueOf({ label }: Choice): number {
    return this.#due.get(label)!
  }
}
