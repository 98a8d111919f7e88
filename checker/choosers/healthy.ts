import { isRepair } from '../happening/kinds.ts'
import { wayOf } from '../system/likeness.ts'
import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import type { Chooser } from './chooser.ts'
import { CommonClock } from './common-clock.ts'

/**
 * A timer fires after this many inputs without one, because two nodes may send to each other for ever. With a smaller
 * number, timers would interrupt long exchanges.
 */
const inputsMax = 128

/**
 * A healthy network: every message arrives before anything else happens, messages between two nodes keep their order,
 * and timers fire in the order of one clock shared by all nodes, within five percent. A system that recovers in
 * practice recovers here.
 *
 * @param seed which nodes are assumed to reset their timers with each input: see `healthySeed`
 */
export const healthy = (random: Random, seed: number): Chooser =>
  inputsBeforeTimers(
    new CommonClock(random, settingShares[seed % settingShares.length]!),
    enabled => firstOfAWay(enabled, random) ?? enabled.find(isCall),
  )

/**
 * The order of a healthy network, for which systems are built: calls begin at once, and messages arrive in the order in
 * which they were sent. Timers fire once nothing is in flight, in the order of one clock, where each input sets its
 * node's timers anew.
 */
export const prompt = (random: Random): Chooser =>
  inputsBeforeTimers(
    new CommonClock(random, 1),
    enabled => enabled.find(isCall) ?? enabled.find(({ kind }) => kind === 'deliver'),
  )

const inputsBeforeTimers = (clock: CommonClock, nextInput: Chooser): Chooser => {
  let inputs = 0
  return enabled => {
    clock.see(enabled)
    const repair = enabled.find(({ kind }) => isRepair(kind))
    const input = inputs < inputsMax ? nextInput(enabled) : undefined
    const choice = repair ?? input ?? clock.first(enabled) ?? nextInput(enabled)
    inputs = choice === undefined || choice.kind === 'timer' ? 0 : inputs + 1
    if (choice) clock.leave(choice)
    return choice
  }
}

const isCall = ({ kind }: Choice): boolean => kind === 'client'

/** The first delivery of each sender and receiver. Deliveries between two nodes are enabled in the order of sending. */
const firstOfAWay = (enabled: readonly Choice[], random: Random): Choice | undefined => {
  const firsts = new Map<string, Choice>()
  for (const choice of enabled) {
    if (choice.kind !== 'deliver') continue
    const name = wayOf(choice)
    if (!firsts.has(name)) firsts.set(name, choice)
  }
  return firsts.size > 0 ? random.pick([...firsts.values()]) : undefined
}

/** Share of the nodes assumed to reset their timers with each input: all, none, or half. */
const settingShares = [1, 0, 0.5] as const

/**
 * A seed near `seed` with which the first of such walks assumes that all nodes reset their timers, the second none, the
 * third half.
 */
export const healthySeed = (seed: number, ordinal: number): number =>
  seed - (seed % settingShares.length) + (ordinal % settingShares.length)
