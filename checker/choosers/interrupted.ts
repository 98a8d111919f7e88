import type { Random } from '../system/random.ts'
import type { Choice, ChoiceKind } from '../system/system.ts'
import type { Chooser } from './chooser.ts'
import { straight, type Weights } from './weights.ts'

/** What interrupts the usual way: each must fall between two certain steps to be noticed. */
export const interruptions = [
  'pause',
  'power',
  'clock',
  'split',
  'preempt',
  'disk',
  'calls',
] as const satisfies readonly ChoiceKind[]

/** Steps of a node before its interruption at most; drawn so that small numbers are as likely as large ones. */
const stepsBefore = 32
/** How many timers of others fire during a pause. */
const timersOfOthers = [3, 6, 12, 24] as const

/**
 * A walk in which a node is interrupted: everything takes the straight way until one fault strikes one node, after some
 * of its first steps or of the clients' calls. The fault is a pause, a power failure, a jump of the wall clock, a
 * failure of the disk or of a call, a message in parts, or threads that give way. A node without power starts again at
 * once. While a node is paused, the others go on until some of their timers have fired, so that a lease is over, for
 * example. Then the node goes on where it stood, with its clock late.
 *
 * The node is drawn before the step, because most steps are those of a node that all others ask.
 */
export const interrupted = (random: Random, weights: Weights): Chooser => {
  const go = straight(random, weights)
  let wanted: Wanted | undefined
  let timers: number | undefined
  let isAtOnce = false
  return enabled => {
    const together = isAtOnce ? enabled.filter(areClients) : []
    isAtOnce = false
    if (together.length > 0) return random.pick(together)
    const isPaused = enabled.some(({ kind }) => kind === 'resume')
    timers = isPaused ? (timers ?? random.pick(timersOfOthers)) : undefined
    const possible = isPaused ? [] : enabled.filter(isInterruption)
    wanted ??= possible.length > 0 ? drawn(random, possible) : undefined
    const now = possible.filter(choice => isWanted(choice, wanted!))
    if (now.length > 0 && wanted!.steps <= 0) {
      const choice = random.pick(now)
      isAtOnce = choice.kind === 'preempt' && random.below(4) > 0
      wanted = afterwards(random, choice, possible)
      return choice
    }
    const others = timers ? enabled.filter(({ kind }) => kind !== 'resume') : enabled
    const choice = go(others) ?? go(enabled)
    if (timers && choice?.kind === 'timer') timers -= 1
    if (choice && wanted && (choice.node === wanted.node || choice.kind === 'client')) wanted.steps -= 1
    return choice
  }
}

/** These faults often show something in the first step already. */
const soon: ReadonlySet<ChoiceKind> = new Set(['split', 'preempt', 'disk', 'calls'])

/** Whether several clients' calls begin in one step: only then do threads that give way compete with others. */
const areClients = ({ joins }: Choice): boolean => joins?.every(({ kind }) => kind === 'client') === true

/** An interruption that the walk waits for: its kind, its node, and after how many steps of the node. */
interface Wanted {
  readonly kind: ChoiceKind
  readonly node: string
  steps: number
  /** Whether the interruption comes between two steps of the node, or in its start; in any of its steps, if absent. */
  readonly when?: 'at rest' | 'in its start'
}

const isWanted = ({ kind, node, label }: Choice, wanted: Wanted): boolean => {
  if (kind !== wanted.kind || node !== wanted.node) return false
  return wanted.when === 'at rest' ? !label.includes(' before ') : label.includes(' in its start ') === !!wanted.when
}

/** What is wanted after an interruption, because it often shows what that did. */
const afterwards = (random: Random, choice: Choice, possible: readonly Choice[]): Wanted | undefined => {
  if (choice.kind === 'disk' && random.below(4) > 0) return afterDisk(choice, possible)
  // A program that recovers from a power failure may meet the next one.
  if (choice.kind === 'power' && random.below(2) > 0)
    return { kind: 'power', node: choice.node, steps: 0, when: 'in its start' }
  return undefined
}

/** What a disk did not keep is missed once the power has failed: straight after the step in which that was. */
const afterDisk = ({ node }: Choice, possible: readonly Choice[]): Wanted | undefined => {
  const wanted = { kind: 'power', node, steps: 1, when: 'at rest' } as const
  return possible.some(choice => isWanted(choice, wanted)) ? wanted : undefined
}

const isInterruption = ({ kind }: Choice): boolean => interruptions.some(each => each === kind)

const drawn = (random: Random, possible: readonly Choice[]) => {
  const kind = random.pick([...new Set(possible.map(each => each.kind))])
  const nodes = [...new Set(possible.filter(each => each.kind === kind).map(({ node }) => node))]
  const node = random.pick(nodes)
  const steps = Math.floor(random.between(1, stepsBefore))
  const isSoon = soon.has(kind) && random.below(2) === 0
  return { kind, node, steps: isSoon ? 0 : steps }
}
