import type { Execution } from '../model/execution.ts'

/** Positions in the event graph, in pixels. */
export interface Lanes {
  readonly names: readonly string[]
  readonly laneWidth: number
  readonly width: number
  /** Centre of the lane of a node or of the clients; `undefined` for an unknown name. */
  readonly x: (name: string) => number | undefined
}

export const clientsLane = 'clients'

/** A lane for each node, and one for the clients if any of them calls. */
export const lanesOf = (execution: Execution, widthMax: number): Lanes => {
  const hasClients = execution.steps.some(({ choice }) => choice?.kind === 'client')
  const names = [...(hasClients ? [clientsLane] : []), ...execution.nodes]
  const laneWidth = Math.max(30, Math.min(110, Math.floor(widthMax / names.length)))
  return {
    names,
    laneWidth,
    width: names.length * laneWidth,
    x: name => {
      const index = names.indexOf(name)
      return index === -1 ? undefined : (index + 0.5) * laneWidth
    },
  }
}
