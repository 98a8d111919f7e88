import { nearest } from '../../checker/system/nearest.ts'
import type { ClientCall, GlobalState, NodeView, Operation } from '../config/config.ts'
import { nodeNameOf } from '../outside/answers.ts'
import { pastMax } from './past.ts'

/** A node as observed now. */
export type SeenNode = Omit<NodeView, 'past'>

/**
 * The state that properties read.
 *
 * @param pastOf returns earlier states of a node, the latest first; it is told how many are wanted
 *
 * @param outside names of those nodes that are outside of the system
 */
export const stateOf = (
  nodes: readonly SeenNode[],
  calls: readonly ClientCall[],
  history: readonly Operation[],
  pastOf: (node: string, count: number) => readonly unknown[] = () => [],
  outside: readonly string[] = [],
): GlobalState => {
  const views = nodes.map(node => viewOf(node, pastOf))
  return stateOfViews(views, calls, history, outside)
}

/** Those outside of the system are found by name alone, which may be that of their host. */
export const stateOfViews = (
  views: readonly NodeView[],
  calls: readonly ClientCall[],
  history: readonly Operation[],
  outside: readonly string[] = [],
): GlobalState => {
  const nodes = outside.length === 0 ? views : views.filter(({ name }) => !outside.includes(name))
  const isCalled = ({ name }: NodeView, called: string) =>
    name === called || (outside.includes(name) && name === nodeNameOf(called))
  return {
    nodes,
    calls,
    history,
    node: name => views.find(view => isCalled(view, name)) ?? unknownNode(name, views),
  }
}

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
