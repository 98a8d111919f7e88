import { nearest } from '../../checker/system/nearest.ts'
import type { ClientCall, GlobalState, NodeView, Operation } from '../config/config.ts'
import { pastMax } from './past.ts'

/** A node as observed now. */
export type SeenNode = Omit<NodeView, 'past'>

/**
 * The state that properties read.
 *
 * @param pastOf returns earlier states of a node, the latest first; it is told how many are wanted
 */
export const stateOf = (
  nodes: readonly SeenNode[],
  calls: readonly ClientCall[],
  history: readonly Operation[],
  pastOf: (node: string, count: number) => readonly unknown[] = () => [],
): GlobalState => {
  const views = nodes.map(node => viewOf(node, pastOf))
  return stateOfViews(views, calls, history)
}

export const stateOfViews = (
  nodes: readonly NodeView[],
  calls: readonly ClientCall[],
  history: readonly Operation[],
): GlobalState => ({
  nodes,
  calls,
  history,
  node: name => nodes.find(node => node.name === name) ?? unknownNode(name, nodes),
})

/** A node as properties see it. Getters stay getters. */
export const viewOf = (node: SeenNode, pastOf: (node: string, count: number) => readonly unknown[]): NodeView =>
  Object.defineProperty(node, 'past', {
    value: (count: number) => {
      if (!Number.isInteger(count) || count < 1 || count > pastMax)
        throw new RangeError(`past: expected how many states, from 1 to ${pastMax}, found ${count}`)
      return pastOf(node.name, count).slice(0, count)
    },
    configurable: true,
  }) as NodeView

const unknownNode = (name: string, nodes: readonly { name: string }[]): never => {
  throw new Error(noNode(name, nodes))
}

export const noNode = (name: string, nodes: readonly { name: string }[]) =>
  `no node ${name}: ${nearest(
    name,
    nodes.map(node => node.name),
  )}`
