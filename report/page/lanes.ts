import type { ShownExecution } from '../model/execution.ts'

/** Positions in the event graph, in pixels. */
export interface Lanes {
  readonly names: readonly string[]
  readonly laneWidth: number
  readonly width: number
  /** Whether names need more room than there is. */
  readonly areNarrow: boolean
  /** Centre of the lane of a node or of the clients; `undefined` for an unknown name. */
  readonly x: (name: string) => number | undefined
}

export const clientsLane = 'clients'

/** Of a character of a bold name, and of the space between two names, in pixels. */
const [characterWidth, gap] = [8, 10]

/**
 * A lane for each node, and one for the clients if any of them calls.
 *
 * @param width of all lanes together
 *
 * @param room to which they may grow if their names need it
 */
export const lanesOf = (execution: ShownExecution, width: number, room: number): Lanes => {
  const hasClients = execution.steps.some(({ choice }) => choice?.kind === 'client')
  const names = [...(hasClients ? [clientsLane] : []), ...execution.nodes]
  const usual = Math.max(30, Math.min(110, Math.floor(width / names.length)))
  const named = gap + characterWidth * Math.max(...names.map(({ length }) => length))
  const laneWidth = Math.max(usual, Math.min(named, Math.floor(room / names.length)))
  return {
    names,
    laneWidth,
    width: names.length * laneWidth,
    areNarrow: laneWidth < named,
    x: name => {
      const index = names.indexOf(name)
      return index === -1 ? undefined : (index + 0.5) * laneWidth
    },
  }
}
