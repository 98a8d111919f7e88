import type { GlobalState, NodeView } from './definition.ts'
import type { ResolvedSystem } from './resolved.ts'

/** Tells whether the configuration's `state` ever saw anything in an execution. */
export class Observed {
  readonly #isExpected: boolean
  #hasState = false
  #last: GlobalState | undefined

  constructor({ observe, properties }: Pick<ResolvedSystem, 'observe' | 'properties'>) {
    this.#isExpected = observe !== undefined && Object.values(properties).some(({ kind }) => kind !== 'sometimes')
  }

  see(state: GlobalState): void {
    if (this.#hasState) return
    this.#hasState = state.nodes.some(node => node.state !== undefined)
    this.#last = this.#hasState ? undefined : state
  }

  /** Says that no node ever had a state, and shows a line in which none was seen; undefined if one had, or nothing is to be seen. */
  get nothing(): string | undefined {
    if (!this.#isExpected || this.#hasState || this.#last === undefined) return undefined
    const [printed] = this.#last.nodes.flatMap(lastLine)
    const instead = printed === undefined ? 'no node has printed anything' : `the last line that ${printed}`
    return `${observedNothing}; ${instead}`
  }
}

export const observedNothing =
  'no node ever had a state: `state` observed nothing, so properties of states were not tested'

const lineLengthMax = 120

const lastLine = ({ name, output }: NodeView): string[] => {
  const text = output.stdout.trimEnd() || output.stderr.trimEnd()
  const line = text.slice(text.lastIndexOf('\n') + 1)
  return line === '' ? [] : [`${name} printed is ${JSON.stringify(line.slice(0, lineLengthMax))}`]
}
