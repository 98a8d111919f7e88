import { isRepair } from '../happening/kinds.ts'
import { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import type { Chooser } from './chooser.ts'
import { Origins } from './origins.ts'

/**
 * One node after the other begins a conversation, by its timer or a call. Every message of that conversation is
 * delivered, and nothing else, until it ends; then the next node begins. Messages that are already in flight wait: in
 * half of these walks for ever, in the others until each node has had its turn. A random walk takes steps in such an
 * order only once in thousands.
 *
 * @param seed which order of the nodes; for up to four nodes, successive seeds give all orders
 */
export const conversations = (seed: number): Chooser => {
  const origins = new Origins()
  const isPatient = seed % 2 === 0
  let order: string[] | undefined
  let turn = 0
  let current: number | undefined
  return enabled => {
    order ??= orderOf(enabled, seed >>> 1)
    origins.arrive(enabled)
    const deliveries = enabled.filter(({ kind }) => kind === 'deliver')
    let choice: Choice | undefined =
      enabled.find(({ kind }) => isRepair(kind)) ??
      deliveries.find(({ label }) => current !== undefined && origins.of(label) === current)
    for (let tried = 0; !choice && tried <= order.length; tried++) {
      const name = order[turn % (order.length + 1)]
      turn += 1
      choice = name === undefined ? (isPatient ? undefined : deliveries[0]) : beginning(enabled, name)
    }
    choice ??= deliveries[0] ?? enabled.find(isBeginning)
    if (choice) {
      origins.leave(choice)
      if (!isRepair(choice.kind)) current = origins.current
    }
    return choice
  }
}

const isBeginning = ({ kind }: Choice): boolean => kind === 'timer' || kind === 'client'

const beginning = (enabled: readonly Choice[], node: string): Choice | undefined =>
  enabled.find(choice => isBeginning(choice) && choice.node === node)

const factorials = [1, 1, 2, 6, 24] as const

/** An order of the nodes that can begin something: permutation `number` for up to four nodes, a random one for more. */
const orderOf = (enabled: readonly Choice[], number: number): string[] => {
  const nodes = [...new Set(enabled.filter(isBeginning).map(({ node }) => node))]
  const count = factorials[nodes.length]
  if (count === undefined) return new Random(number).shuffle(nodes)
  const order: string[] = []
  let rest = number % count
  for (let left = nodes.length; left > 0; left--) {
    const each = factorials[left - 1]!
    order.push(...nodes.splice(Math.floor(rest / each), 1))
    rest %= each
  }
  return order
}
