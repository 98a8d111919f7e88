import { content, subject } from './labels.ts'
import type { Origins } from './origins.ts'
import type { Random } from './random.ts'
import { type Choice, faultKinds } from './system.ts'

/** What choices with a budget (overlaps, faults) are about, whatever their numbers. */
interface Surprise {
  readonly kind: 'fault' | 'overlap' | 'collision'
  /** Of what is joined; of a fault, of itself. */
  readonly subjects: readonly string[]
  /** How often it was looked for, and how often it came about. */
  tried: number
  met: number
}

/** The surprises that were offered in all executions so far. */
export class Surprises {
  readonly #known = new Map<string, Surprise>()

  note(choice: Choice): void {
    const name = nameOf(choice)
    if (!this.#known.has(name)) this.#known.set(name, { kind: kindOf(choice), subjects: subjectsOf(choice), tried: 0, met: 0 })
  }

  /** One to look for: each kind with the same chance, of a kind rather what came about when it was looked for. */
  draw(random: Random): Surprise | undefined {
    const known = [...this.#known.values()]
    if (known.length === 0) return undefined
    const kind = random.pick([...new Set(known.map(each => each.kind))])
    const ofKind = known.filter(each => each.kind === kind)
    const surprise = random.weighted(ofKind, ({ met, tried }) => (1 + met) / (2 + tried))!
    surprise.tried += 1
    return surprise
  }
}

/**
 * Looks for one surprise after the other in a walk. For an overlap it holds back the messages that could be part of it,
 * until they meet (as in K. Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008).
 *
 * An overlap joins messages of different origin: two answers to one broadcast are many and meet nothing new. Where two
 * are about the same, it is a collision: peers that do the same thing at once. In half of these they say the very same.
 */
export class Hunt {
  readonly #random: Random
  readonly #surprises: Surprises
  readonly #origins: Origins
  #left: number
  #wanted: Surprise | undefined
  #isExact = false
  /** So many opportunities are passed over. */
  #patience = 0

  constructor(random: Random, surprises: Surprises, origins: Origins) {
    this.#random = random
    this.#surprises = surprises
    this.#origins = origins
    this.#left = random.few()
    this.next()
  }

  /** The surprise that is looked for, where it is offered. */
  take(enabled: readonly Choice[]): Choice | undefined {
    const budgeted = enabled.filter(({ kind }) => kind === 'overlap' || faultKinds.includes(kind))
    if (budgeted.length === 0 && canMeet(enabled)) this.#left = 0
    const offered = budgeted.filter(choice => this.#isWorthwhile(choice))
    for (const choice of offered) this.#surprises.note(choice)
    const wanted = offered.filter(choice => this.#isWanted(choice))
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

  /** Looks for another one. */
  next(): void {
    this.#wanted = this.#left > 0 ? this.#surprises.draw(this.#random) : undefined
    this.#isExact = this.#random.below(2) === 0
    this.#patience = this.#wanted?.kind === 'fault' ? this.#random.below(32) : this.#random.few() - 1
  }

  /** Whether a delivery could be part of what is looked for. */
  holds({ label, node }: Choice): boolean {
    if (this.#left === 0 || this.#wanted === undefined || this.#wanted.kind === 'fault') return false
    return this.#wanted.subjects.includes(about(label, node))
  }

  #isWorthwhile({ joins: [first, second] = [] }: Choice): boolean {
    return first === undefined || second === undefined || this.#origins.differ(first, second)
  }

  #isWanted(choice: Choice): boolean {
    if (this.#wanted === undefined || nameOf(choice) !== [choice.kind, ...this.#wanted.subjects].join(' ')) return false
    const [first = '', second = ''] = choice.joins ?? []
    return this.#wanted.kind !== 'collision' || !this.#isExact || content(first) === content(second)
  }
}

/** Whether a node has two inputs: where no overlap is offered then, there is no budget for it any more. */
const canMeet = (enabled: readonly Choice[]): boolean => {
  const inputs = enabled.filter(({ kind }) => kind === 'deliver' || kind === 'timer')
  return new Set(inputs.map(({ node }) => node)).size < inputs.length
}

const nameOf = (choice: Choice): string => [choice.kind, ...subjectsOf(choice)].join(' ')

const kindOf = (choice: Choice): Surprise['kind'] => {
  if (choice.kind !== 'overlap') return 'fault'
  const [first, second] = subjectsOf(choice)
  return first === second ? 'collision' : 'overlap'
}

const subjectsOf = ({ node, label, joins = [label] }: Choice): string[] => joins.map(joined => about(joined, node))

/** What a label is about, whichever node it is at. */
const about = (label: string, node: string): string =>
  subject(label.startsWith(`${node} `) ? label.slice(node.length + 1) : label)
