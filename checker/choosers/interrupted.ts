import type { Random } from '../system/random.ts'
import type { Choice, ChoiceKind } from '../system/system.ts'
import type { Chooser } from './chooser.ts'
import { straight, type Weights } from './weights.ts'

/** What interrupts the usual way: each must fall between two certain steps to be noticed. */
export const interruptions = ['pause', 'power', 'clock', 'split', 'preempt'] as const satisfies readonly ChoiceKind[]

/** Up to so many steps of a node come before; small numbers are as likely as large ones. */
const stepsBefore = 32
/** How many timers of others fire during a pause. */
const timersOfOthers = [3, 6, 12, 24] as const

/**
 * A walk in which a node is interrupted: everything takes the straight way, until one node is paused, loses its power, has its
 * wall clock jump, gets a message in parts, or has threads give way, after some of its first steps or of the clients' calls. A node without power
 * starts again at once. While one is paused, the others go on alone until some of their timers have fired, so that what they
 * wait for is over, such as a lease; then it goes on where it stood, with its clock late.
 *
 * The node is drawn before the step, because most steps are those of a node that all others ask.
 */
export const interrupted = (random: Random, weights: Weights): Chooser => {
  const go = straight(random, weights)
  let wanted: { readonly kind: ChoiceKind; readonly node: string; steps: number } | undefined
  let timers: number | undefined
  return enabled => {
    const isPaused = enabled.some(({ kind }) => kind === 'resume')
    timers = isPaused ? (timers ?? random.pick(timersOfOthers)) : undefined
    const possible = isPaused ? [] : enabled.filter(isInterruption)
    wanted ??= possible.length > 0 ? drawn(random, possible) : undefined
    const now = possible.filter(({ kind, node }) => kind === wanted!.kind && node === wanted!.node)
    if (now.length > 0 && wanted!.steps <= 0) {
      wanted = undefined
      return random.pick(now)
    }
    const others = timers ? enabled.filter(({ kind }) => kind !== 'resume') : enabled
    const choice = go(others) ?? go(enabled)
    if (timers && choice?.kind === 'timer') timers -= 1
    if (choice && wanted && (choice.node === wanted.node || choice.kind === 'client')) wanted.steps -= 1
    return choice
  }
}

const isInterruption = ({ kind }: Choice): boolean => interruptions.some(each => each === kind)

const drawn = (random: Random, possible: readonly Choice[]) => {
  const kind = random.pick([...new Set(possible.map(each => each.kind))])
  const nodes = [...new Set(possible.filter(each => each.kind === kind).map(({ node }) => node))]
  const node = random.pick(nodes)
  const steps = Math.floor(stepsBefore ** random.next())
  // What is wrong there is often wrong in the first step.
  const isSoon = (kind === 'split' || kind === 'preempt') && random.below(2) === 0
  return { kind, node, steps: isSoon ? 0 : steps }
}
