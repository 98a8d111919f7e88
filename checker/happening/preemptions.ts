/**
 * The threads of a node that give way in its next step: before its `from`-th system call that others may notice, and,
 * if `every` is given, before each n-th call after that, n being `every`.
 */
export interface Preemption {
  readonly from: number
  readonly every?: number
}

/**
 * A search draws one of these many residue classes of a step's calls, so that each call is reached soon. There are few
 * classes with many preemptions each and many with few, because each preemption changes the calls that follow.
 */
const [often, seldom] = [4, 16] as const
/** When a preemption of a rare class is shrunk, its first calls up to this number are tried one by one. */
const singleMax = 12

const preemptionSaid = ({ from, every }: Preemption): string =>
  every === undefined ? `before call ${from}` : `before every ${every}th call, from ${from}`

/** Reads the words of `preemptionSaid`; undefined for any other words. */
export const preemptionSaidIn = (said: string): Preemption | undefined => {
  const [, every, from, single] = /^before (?:every (\d+)th call, from (\d+)|call (\d+))$/.exec(said) ?? []
  if (single !== undefined) return { from: Number(single) }
  return every === undefined ? undefined : { from: Number(from), every: Number(every) }
}

export const preemptionLabel = (node: string, preemption: Preemption): string =>
  `preempt ${node} ${preemptionSaid(preemption)}`

/** Reads a label; undefined if it is none of a preemption. */
export const preemptionIn = (label: string): (Preemption & { readonly node: string }) | undefined => {
  const [, node, said] = /^preempt (\S+) (.*)$/.exec(label) ?? []
  const preemption = said === undefined ? undefined : preemptionSaidIn(said)
  return preemption && { node: node!, ...preemption }
}

/** All preemptions that a search may draw. */
export const drawnPreemptions: readonly Preemption[] = [often, seldom].flatMap(every =>
  Array.from({ length: every }, (_, index) => ({ from: index + 1, every })),
)

/** Preemptions at a subset of the calls of this one. */
export const fewerThan = ({ from, every }: Preemption): readonly Preemption[] => {
  if (every === undefined) return []
  const isOften = every < seldom
  return Array.from({ length: isOften ? seldom / every : singleMax }, (_, index) => ({
    from: from + index * every,
    ...(isOften && { every: seldom }),
  }))
}
