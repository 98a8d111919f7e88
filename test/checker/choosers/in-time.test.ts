import { expect, test } from 'vitest'
import { inTimeChooser } from '../../../checker/choosers/in-time.ts'
import { Random } from '../../../checker/system/random.ts'
import type { Choice } from '../../../checker/system/system.ts'
import { choiceOf } from '../systems/model.ts'

const nodes = ['a', 'b', 'c']
const everyMs = 1_000

/** Nodes that send a message to each other once a second by one connection each; two faults, of two kinds, may happen. */
class Ring {
  taken: Choice[] = []
  /** How many timers of each node have fired. */
  readonly #fired = new Map(nodes.map(node => [node, 0]))
  #flight: Choice[] = []
  #faults = 2

  enabled(): readonly Choice[] {
    const timers = nodes.map(node =>
      choiceOf({ kind: 'timer', node, label: `${node} timer ${this.#fired.get(node)}`, afterMs: everyMs }),
    )
    const faults =
      this.#faults > 0
        ? nodes.flatMap(node => [
            choiceOf({ kind: 'reset', node, label: `reset ${node}` }),
            choiceOf({ kind: 'preempt', node, label: `preempt ${node}` }),
          ])
        : []
    return [...this.#flight, ...timers, ...faults]
  }

  take(choice: Choice): void {
    this.taken.push(choice)
    const { kind, node } = choice
    if (kind === 'deliver') this.#flight = this.#flight.filter(({ label }) => label !== choice.label)
    else if (kind !== 'timer') this.#faults -= 1
    else {
      const number = this.#fired.get(node)! + 1
      this.#fired.set(node, number)
      for (const to of nodes.filter(other => other !== node))
        this.#flight.push(choiceOf({ kind: 'deliver', node: to, label: `${node}→${to} #${number} hello` }))
    }
  }
}

const walk = (seed: number, steps = 200): readonly Choice[] => {
  const ring = new Ring()
  const choose = inTimeChooser(new Random(seed))
  while (ring.taken.length < steps) ring.take(choose(ring.enabled())!)
  return ring.taken
}

const walks = Array.from({ length: 400 }, (_, seed) => walk(seed))
const isFault = ({ kind }: Choice) => kind === 'reset' || kind === 'preempt'
const share = (isMeant: (taken: readonly Choice[]) => boolean) => walks.filter(isMeant).length / walks.length
/** How many rounds of timers had fired before a step. */
const rounds = (taken: readonly Choice[], step: number) =>
  taken.slice(0, step).filter(({ kind }) => kind === 'timer').length / nodes.length

// In the others, some nodes are assumed to set their timers anew with each input, so they fire later.
test('in a third of the walks timers fire by one clock: no node is more than two rounds behind another one', () => {
  const furthest = (taken: readonly Choice[]) => {
    const fired = new Map(nodes.map(node => [node, 0]))
    let apart = 0
    for (const { kind, node } of taken) {
      if (kind === 'timer') fired.set(node, fired.get(node)! + 1)
      apart = Math.max(apart, Math.max(...fired.values()) - Math.min(...fired.values()))
    }
    return apart
  }
  expect(share(taken => furthest(taken) <= 2)).toBeGreaterThan(0.3)
})

test('before a fault each message takes a second at most, and messages of a way keep their order', () => {
  for (const taken of walks) {
    const first = taken.findIndex(isFault)
    const until = first < 0 ? taken.length : first
    for (const [step, { kind, from, ordinal }] of taken.slice(0, until).entries()) {
      if (kind !== 'deliver') continue
      const since =
        taken.slice(0, step).filter(other => other.kind === 'timer' && other.node === from).length - ordinal!
      expect(since).toBeLessThanOrEqual(1)
    }
  }
})

test('a fault happens in the first seconds, and mostly a second one of its kind soon after, of another node', () => {
  const faultsOf = (taken: readonly Choice[]) => taken.filter(isFault)
  expect(share(taken => faultsOf(taken).length === 2)).toBeGreaterThan(0.9)
  const pairs = walks.filter(taken => faultsOf(taken).length === 2)
  const of = (isMeant: (one: Choice, other: Choice) => boolean) =>
    pairs.filter(taken => isMeant(faultsOf(taken)[0]!, faultsOf(taken)[1]!)).length / pairs.length
  expect(of((one, other) => one.kind === other.kind)).toBeGreaterThan(0.8)
  expect(of((one, other) => one.node === other.node)).toBe(0)
  const near = pairs.filter(taken => {
    const [one, other] = taken.flatMap((choice, step) => (isFault(choice) ? [rounds(taken, step)] : []))
    return other! - one! <= 1.5
  })
  expect(near.length / pairs.length).toBeGreaterThan(0.7)
})

test('in some walks a connection of the node with the fault, and no other, holds back what it carries for seconds', () => {
  let held = 0
  for (const taken of walks) {
    const faulty = new Set(taken.filter(isFault).map(({ node }) => node))
    for (const [step, { kind, from, to, ordinal }] of taken.entries()) {
      if (kind !== 'deliver') continue
      const since =
        taken.slice(0, step).filter(other => other.kind === 'timer' && other.node === from).length - ordinal!
      if (since < 3) continue
      held += 1
      expect(faulty.has(from!) || faulty.has(to!)).toBe(true)
    }
  }
  expect(held).toBeGreaterThan(walks.length / 4)
})

test('the same seed gives the same walk, and nothing is chosen where nothing can happen', () => {
  expect(walk(7).map(({ label }) => label)).toEqual(walk(7).map(({ label }) => label))
  expect(inTimeChooser(new Random(1))([])).toBeUndefined()
})
