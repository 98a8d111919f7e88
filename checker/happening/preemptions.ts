/**
 * The threads of a node that give way in its next step: before its `from`-th system call that others may notice (or
 * instruction, if that is the `unit`), and, if `every` is given, before each n-th after that, n being `every`.
 */
export interface Preemption {
  readonly from: number
  readonly every?: number
  /** Calls, if absent. Instructions are those that threads execute after they begin, and after each call. */
  readonly unit?: 'instruction'
}

/**
 * A search draws one of these many residue classes of a step's calls, so that each call is reached soon. There are few
 * classes with many preemptions each and many with few, because each preemption changes the calls that follow.
 */
const [often, seldom] = [4, 16] as const
/** Threads that give way after each so many instructions take turns. The numbers share no factor with most loops. */
const instructionsApart = [7, 29, 127, 509] as const
/** Of instructions, shrinking tries each of so many classes of a class, until there are this many between two. */
const [fewerTimes, instructionsApartMax] = [8, 4096] as const
/** When a preemption of a rare class is shrunk, its first ones up to this number are tried one by one. */
const singleMax = 12

const preemptionSaid = ({ from, every, unit }: Preemption): string => {
  if (every === undefined) return `before ${unit ?? 'call'} ${from}`
  return unit ? `every ${every} instructions, from ${from}` : `before every ${every}th call, from ${from}`
}

const single = /^before (call|instruction) (\d+)$/
const several = /^(?:before every (\d+)th call|every (\d+) instructions), from (\d+)$/

/** Reads the words of `preemptionSaid`; undefined for any other words. */
export const preemptionSaidIn = (said: string): Preemption | undefined => {
  const [, unit, at] = single.exec(said) ?? []
  if (at !== undefined) return unit === 'call' ? { from: Number(at) } : { from: Number(at), unit: 'instruction' }
  const [, calls, instructions, from] = several.exec(said) ?? []
  if (from === undefined) return undefined
  return calls === undefined
    ? { from: Number(from), every: Number(instructions), unit: 'instruction' }
    : { from: Number(from), every: Number(calls) }
}

export const preemptionLabel = (node: string, preemption: Preemption): string =>
  `preempt ${node} ${preemptionSaid(preemption)}`

/** Reads a label; undefined if it is none of a preemption. */
export const preemptionIn = (label: string): (Preemption & { readonly node: string }) | undefined => {
  const [, node, said] = /^preempt (\S+) (.*)$/.exec(label) ?? []
  const preemption = said === undefined ? undefined : preemptionSaidIn(said)
  return preemption && { node: node!, ...preemption }
}

/** All preemptions that a search may draw: mostly at calls, which are cheaper, and of which most races need one. */
export const drawnPreemptions: readonly Preemption[] = [
  ...[often, seldom].flatMap(every => Array.from({ length: every }, (_, index) => ({ from: index + 1, every }))),
  ...instructionsApart.map(every => ({ from: 1, every, unit: 'instruction' as const })),
]

/** Preemptions at a subset of the calls or instructions of this one. */
export const fewerThan = ({ from, every, unit }: Preemption): readonly Preemption[] => {
  if (every === undefined) return []
  const isOften = every < (unit ? instructionsApartMax : seldom)
  const times = unit ? fewerTimes : seldom / every
  return Array.from({ length: isOften ? times : singleMax }, (_, index) => ({
    from: from + index * every,
    ...(isOften && { every: every * times }),
    ...(unit && { unit }),
  }))
}
