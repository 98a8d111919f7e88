import { isFault, roleOf } from '../happening/kinds.ts'
import { sayTheSame } from '../system/likeness.ts'
import type { Random } from '../system/random.ts'
import type { Choice, ChoiceKind } from '../system/system.ts'
import type { Origins } from './origins.ts'

/** A kind of choice with a budget (an overlap, a divided message or a fault), identified by its content without numbers. */
export interface Surprise {
  readonly name: string
  readonly group: 'fault' | 'overlap' | 'collision' | 'divide'
  /** Content of the joined inputs, or of the fault itself. */
  readonly subjects: readonly string[]
  /** How often it was looked for, and how often it then came about. */
  readonly tried: number
  readonly met: number
}

/**
 * At most this many surprises are remembered. They are sent along with every execution, and a service may put anything
 * into its messages, so without a limit they would grow for ever.
 */
const knownMax = 2_000

type Counted = { -readonly [Key in keyof Surprise]: Surprise[Key] }

/** The surprises offered so far. */
export class Surprises {
  readonly #known = new Map<string, Counted>()
  readonly #before: readonly Surprise[]

  /** @param before surprises known from earlier executions */
  constructor(before: readonly Surprise[] = []) {
    this.#before = before
    for (const surprise of before) this.#known.set(surprise.name, { ...surprise })
  }

  get all(): Surprise[] {
    return [...this.#known.values()].map(surprise => ({ ...surprise }))
  }

  /** What was learned since `before`. */
  learned(): Surprise[] {
    const before = new Map(this.#before.map(surprise => [surprise.name, surprise]))
    return this.all.flatMap(surprise => {
      const { tried, met } = before.get(surprise.name) ?? { tried: 0, met: 0 }
      const isSame = before.has(surprise.name) && tried === surprise.tried && met === surprise.met
      return isSame ? [] : [{ ...surprise, tried: surprise.tried - tried, met: surprise.met - met }]
    })
  }

  /** Adds what other executions learned. */
  learn(learned: readonly Surprise[]): void {
    for (const surprise of learned) {
      const { tried, met } = this.#known.get(surprise.name) ?? { tried: 0, met: 0 }
      if (!this.#known.has(surprise.name) && this.#known.size >= knownMax) continue
      this.#known.set(surprise.name, { ...surprise, tried: surprise.tried + tried, met: surprise.met + met })
    }
  }

  /**
   * Adds the surprises among the enabled choices. If a message can be overlapped at all, a collision with another
   * message of its kind is added as well.
   */
  note(enabled: readonly Choice[]): void {
    for (const choice of enabled.filter(hasBudget)) {
      this.#add(choice.kind, subjectsOf(choice))
      if (choice.kind !== 'overlap') continue
      for (const each of subjectsOf(choice)) this.#add(choice.kind, [each, each])
    }
  }

  #add(kind: ChoiceKind, subjects: readonly string[]): void {
    const name = nameOf(kind, subjects)
    if (!this.#known.has(name) && this.#known.size < knownMax)
      this.#known.set(name, { name, group: groupOf(kind, subjects), subjects, tried: 0, met: 0 })
  }

  /**
   * Draws a surprise to look for. Each group has the same chance. Within a group, surprises that occurred when they
   * were looked for are favoured. (The cube finds the vote race of liferaft in half of the executions that the plain
   * rate needs.)
   */
  draw(random: Random): Counted | undefined {
    const known = [...this.#known.values()]
    if (known.length === 0) return undefined
    const group = random.pick([...new Set(known.map(each => each.group))])
    const ofGroup = known.filter(each => each.group === group)
    const surprise = random.weighted(ofGroup, ({ met, tried }) => ((1 + met) / (2 + tried)) ** 3)!
    surprise.tried += 1
    return surprise
  }
}

/**
 * Looks for one surprise after another during a walk. For an overlap it holds back messages that could take part in it
 * until they meet (as in K. Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008).
 *
 * An overlap joins messages of different activities: the answers to one broadcast are many, and their meeting is
 * nothing new. If both have the same content it is a collision: peers that do the same thing at once. In half of the
 * collisions, numbers must be equal too.
 */
export class Hunt {
  readonly #random: Random
  readonly #surprises: Surprises
  readonly #origins: Origins
  #left: number
  #wanted: Counted | undefined
  #isExact = false
  /** How many more opportunities to let pass before taking one. */
  #patience = 0

  constructor(random: Random, surprises: Surprises, origins: Origins) {
    this.#random = random
    this.#surprises = surprises
    this.#origins = origins
    this.#left = random.few()
    this.next()
  }

  /** The wanted surprise, if it is offered. */
  take(enabled: readonly Choice[]): Choice | undefined {
    this.#surprises.note(enabled)
    const budgeted = enabled.filter(hasBudget)
    if (budgeted.length === 0 && canMeet(enabled)) this.#left = 0
    const wanted = budgeted.filter(choice => this.#isWanted(choice))
    if (wanted.length === 0) return undefined
    if (this.#patience > 0) {
      this.#patience -= 1
      return undefined
    }
    this.#left -= 1
    this.#wanted!.met += 1
    this.next()
    return this.#random.pick(wanted)
  }

  /** Looks for another surprise. */
  next(): void {
    this.#wanted = this.#left > 0 ? this.#surprises.draw(this.#random) : undefined
    this.#isExact = this.#random.below(2) === 0
    this.#patience = this.#wanted?.group === 'fault' ? this.#random.below(32) : this.#random.few() - 1
  }

  /** Whether a delivery could take part in the wanted surprise, and so should wait. */
  holds({ subject }: Choice): boolean {
    if (this.#left === 0 || this.#wanted === undefined || !meets.includes(this.#wanted.group)) return false
    return this.#wanted.subjects.includes(subject)
  }

  #isWanted(choice: Choice): boolean {
    const wanted = this.#wanted
    if (wanted === undefined || nameOf(choice.kind, subjectsOf(choice)) !== wanted.name) return false
    const [first, second] = choice.joins ?? []
    if (first === undefined || second === undefined) return true
    const isExact = wanted.group === 'collision' && this.#isExact
    return this.#origins.differ(first.label, second.label) && (!isExact || sayTheSame(first, second))
  }
}

const hasBudget = ({ kind }: Choice): boolean => roleOf(kind) === 'deviation' || isFault(kind)

/** The groups in which two inputs meet. */
const meets: readonly Surprise['group'][] = ['overlap', 'collision']

/** Whether a node has two inputs. If no overlap is offered although it has, the budget is spent. */
const canMeet = (enabled: readonly Choice[]): boolean => {
  const inputs = enabled.filter(({ kind }) => kind === 'deliver' || kind === 'timer')
  return new Set(inputs.map(({ node }) => node)).size < inputs.length
}

const nameOf = (kind: ChoiceKind, subjects: readonly string[]): string => [kind, ...subjects].join(' ')

const groupOf = (kind: ChoiceKind, [first, second]: readonly string[]): Surprise['group'] => {
  if (kind === 'divide') return 'divide'
  if (kind !== 'overlap') return 'fault'
  return first === second ? 'collision' : 'overlap'
}

const subjectsOf = (choice: Choice): string[] => (choice.joins ?? [choice]).map(({ subject }) => subject)
