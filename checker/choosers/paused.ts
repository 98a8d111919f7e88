import type { Random } from '../system/random.ts'
import type { Chooser } from './chooser.ts'
import { straight, type Weights } from './weights.ts'

/** Up to so many steps of a node come before its pause; small numbers are as likely as large ones. */
const stepsBefore = 32
/** How many timers of others fire during a pause. */
const timersOfOthers = [3, 6, 12, 24] as const

/**
 * A walk with a pause: everything takes the straight way, until one node is paused after one of its first steps. The others
 * go on alone, until some of their timers have fired, so that what they wait for is over, such as a lease. Then the node
 * goes on where it stood, with its clock late.
 *
 * The node is drawn before the step, because most steps are those of a node that all others ask.
 */
export const paused = (random: Random, weights: Weights): Chooser => {
  const go = straight(random, weights)
  let wanted: { readonly node: string; steps: number } | undefined
  let timers: number | undefined
  return enabled => {
    const isPaused = enabled.some(({ kind }) => kind === 'resume')
    timers = isPaused ? (timers ?? random.pick(timersOfOthers)) : undefined
    const pauses = isPaused ? [] : enabled.filter(({ kind }) => kind === 'pause')
    if (pauses.length > 0)
      wanted ??= { node: random.pick(pauses).node, steps: Math.floor(stepsBefore ** random.next()) }
    const pause = pauses.find(({ node }) => node === wanted!.node)
    if (pause && wanted!.steps <= 0) {
      wanted = undefined
      return pause
    }
    const others = timers ? enabled.filter(({ kind }) => kind !== 'resume') : enabled
    const choice = go(others) ?? go(enabled)
    if (timers && choice?.kind === 'timer') timers -= 1
    if (choice && choice.node === wanted?.node) wanted.steps -= 1
    return choice
  }
}
