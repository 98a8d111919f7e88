import type { Timing } from '../../../harness/timed/timing.ts'
import type { PipeSettings } from '../../../proxy/forwarding/pipe.ts'

/** Every two different ones of so many nodes, by number. */
export const waysBetween = (nodes: number): { readonly from: number; readonly to: number }[] => {
  const all = [...Array(nodes).keys()]
  return all.flatMap(from => all.filter(to => to !== from).map(to => ({ from, to })))
}

/** A common time of nodes with a pipe of its own for each way. */
export const meshTiming = (
  nodes: readonly string[],
  pipeOf: (way: number) => PipeSettings,
  more: Partial<Timing> = {},
): Timing => {
  const ways = waysBetween(nodes.length)
  return {
    pace: 'virtual',
    initial: nodes,
    events: [],
    wiring: {
      pipes: ways.map((_, index) => pipeOf(index)),
      routes: ways.map((way, index) => ({ ...way, pipes: [index] })),
      seed: 3,
    },
    pausesMs: {},
    clocks: {},
    inputs: [],
    ...more,
  }
}
