import { createHash } from 'node:crypto'
import { withoutOrdinals } from '../checker/labels.ts'
import type { Network } from '../proxy/network.ts'
import type { Input } from './choices.ts'
import type { GlobalState } from './config.ts'
import type { Node } from './node.ts'

/**
 * Equal for states with equal observed states (or equal histories of inputs), messages in flight, relative timers,
 * budgets, calls and their operations.
 */
export const fingerprintOf = (
  state: GlobalState,
  nodes: readonly Node[],
  network: Network,
  budget: ReadonlyMap<string, number>,
  history: ReadonlyMap<string, string> | undefined,
): string => {
  const hash = createHash('sha1')
  const add = (value: unknown) => hash.update(JSON.stringify(value) ?? '-')
  add(history ? [...history] : state.nodes.map(node => [node.alive, node.state ?? null]))
  for (const message of network.inFlight()) {
    add([withoutOrdinals(message.label), message.kind, message.connection])
    hash.update(message.bytes)
  }
  for (const { held, clock } of nodes) {
    add([...(held?.timers ?? [])].map(({ deadline }) => deadline - clock.elapsed).sort((a, b) => a - b))
  }
  add([...budget])
  add(state.calls)
  add(state.history)
  return hash.digest('hex')
}

/** The history of a node's inputs after one more step. */
export const inputHash = (before: string | undefined, label: string, inputs: readonly Input[]): string => {
  const hash = createHash('sha1')
    .update(before ?? '')
    .update(withoutOrdinals(label))
  for (const input of inputs) if ('deliver' in input) hash.update(input.deliver.bytes)
  return hash.digest('hex')
}
