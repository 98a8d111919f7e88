import { hash } from 'node:crypto'
import type { Message } from '../../proxy/message.ts'
import { aboutMessage } from './choices/about-message.ts'

/**
 * Tests whether rewinding nodes in place misses something: an execution is done in place and on new processes, and must
 * have the same results.
 */

/**
 * Of the executions that began in place, the first of these and then one in so many are repeated on new processes, which
 * costs their start.
 */
const firstInPlace = 20
const inPlaceEvery = 100

/** The results of a step, by node and by what is compared. */
export type Evidence = ReadonlyMap<string, Readonly<Record<string, string>>>

/** Where a node did something else on new processes. */
export interface AuditDifference {
  /** Counted from 1; 0 is the start. */
  readonly step: number
  readonly node: string
  readonly what: string
}

/** Executions on new processes that are repeated in place: the first ones, and later one in `anewEvery`. */
const firstAnew = 2
const anewEvery = 4

/** To repeat an execution in place, the way to its beginning is executed too: it may have a tenth of the steps so far. */
const wayShareMax = 0.1

/** Counts executions and tells which to repeat. */
export class AuditTurns {
  #inPlace = 0
  #isDue = false
  /** Executed in place since an execution in place was last repeated. */
  #steps = 0
  #anew = 0

  /** Call it for each step of an execution that began in place. */
  countStep(): void {
    this.#steps += 1
  }

  /**
   * For an execution that began in place.
   *
   * @param stepsBefore of the way to its beginning: hundreds of thousands in a search from a run
   */
  nextInPlace(stepsBefore: number): boolean {
    this.#isDue ||= ++this.#inPlace === firstInPlace || this.#inPlace % inPlaceEvery === 0
    if (!this.#isDue || stepsBefore > wayShareMax * this.#steps) return false
    this.#isDue = false
    this.#steps = 0
    return true
  }

  /** For an execution on new processes, which is cheaper to repeat. */
  nextAnew(): boolean {
    return ++this.#anew <= firstAnew || this.#anew % anewEvery === 0
  }
}

export const evidenceOf = (
  nodes: readonly { readonly name: string }[],
  {
    outputs,
    messages,
    timers,
  }: {
    readonly outputs: readonly { readonly node: string; readonly stream: string; readonly bytes: Buffer }[]
    /** Messages that were sent in this step. */
    readonly messages: readonly Message[]
    readonly timers: readonly { readonly node: string; readonly deadlinesMs: readonly number[] }[]
  },
): Evidence =>
  new Map(
    nodes.map(({ name }) => {
      const written = outputs.filter(({ node }) => node === name).map(({ stream, bytes }) => [stream, hashOf(bytes)])
      const sent = messages
        .filter(({ from }) => from === name)
        .map(message => [message.label, aboutMessage(message).hash])
      const pending = timers.find(({ node }) => node === name)?.deadlinesMs ?? []
      return [
        name,
        { 'what it wrote': linesOf(written), 'what it sent': linesOf(sent), 'its timers': pending.join(' ') },
      ]
    }),
  )

const hashOf = (bytes: Buffer): string => hash('sha1', bytes)

const linesOf = (parts: readonly (readonly string[])[]): string => parts.map(each => each.join(' ')).join('\n')

/**
 * All nodes that did something else, in the first step with a difference; or all nodes if a step could not be executed
 * any more.
 */
export const differencesOf = (ones: readonly Evidence[], others: readonly Evidence[]): AuditDifference[] => {
  const [longer, shorter] = ones.length < others.length ? [others, ones] : [ones, others]
  for (const [step, evidence] of longer.entries()) {
    const found = [...evidence].flatMap(([node, was]) => {
      const is = shorter[step]?.get(node)
      const what = is === undefined ? 'what could be chosen' : Object.keys(was).find(name => was[name] !== is[name])
      return what === undefined ? [] : [{ step, node, what }]
    })
    if (found.length > 0) return found
  }
  return []
}

export const describeDifference = (
  { step, what }: Omit<AuditDifference, 'node'>,
  schedule: readonly string[],
): string => {
  const where = step === 0 ? 'at its start' : `in step ${step} (${schedule[step - 1]})`
  return `an execution was done in place and on new processes, and ${what} was not the same ${where}: all nodes begin with new processes from then on`
}
