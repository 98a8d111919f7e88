import type { Memory } from './memory.ts'

/** The result of a check of a service. */
export interface Checked {
  readonly verdict: string
  readonly kind: string | null
  readonly executions: number
  readonly stepsPerSecond: number
  readonly notes: readonly string[]
}

/** Its row: verdict, steps a second, how executions begin and why, refused system calls, megabytes. */
export const columnsOf = ({ verdict, kind, executions, stepsPerSecond, notes }: Checked, memory: Memory): string =>
  [
    kind === null ? verdict : `${verdict}: ${kind}`,
    `${executions} executions`,
    `${stepsPerSecond} steps/s`,
    beginnings(notes),
    refusals(notes),
    `${Math.round(memory.tool)} MB and ${Math.round(memory.nodes)} MB`,
  ].join(' | ')

const startedAnew = /^(\S+): a life of it could not be rewound, and was started anew: (.+)$/
const differed = /^(\S+): an execution was done in place and on new processes, and (.+?) (?:was|were) not the same/

export const beginnings = (notes: readonly string[]): string => {
  const reasons = notes.flatMap(note => {
    const anew = startedAnew.exec(note)
    if (anew) return [`${anew[1]}: ${anew[2]}`]
    const other = differed.exec(note)
    return other ? [`${other[1]}: ${other[2]} differed`] : []
  })
  return reasons.length === 0 ? 'in place' : `anew: ${reasons.join('; ')}`
}

const refusals = (notes: readonly string[]): string => {
  const refused = notes.flatMap(note => /(\S+) is refused/.exec(note)?.[1] ?? [])
  return refused.length === 0 ? 'nothing refused' : `refused: ${[...new Set(refused)].join(', ')}`
}
