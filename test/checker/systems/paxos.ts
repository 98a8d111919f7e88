import { always } from '../../../checker/system/property.ts'
import type { Handlers, Out, Whole } from './handlers.ts'

/** Of one member of a Paxos group, with all three roles ("Paxos Made Simple", Lamport, 2001). */
export interface Member {
  /** As an acceptor. */
  readonly promised: number
  readonly accepted: { readonly round: number; readonly value: string } | null
  /** As a leader: its round, and what the acceptors had accepted before, in the order of their promises. */
  readonly round: number
  readonly promises: readonly (readonly [acceptor: string, round: number, value: string | null])[]
  /** As a learner: by round and value, who accepted. */
  readonly votes: Readonly<Record<string, readonly string[]>>
  readonly chosen: string | null
}

export interface PaxosOptions {
  /** Who leads a round, once. */
  readonly leaders: readonly string[]
  /** The leader takes the value of the last promise instead of that of the highest round (WiDS Checker, section 4.1). */
  readonly lastPromiseWins?: boolean
}

const names = ['n1', 'n2', 'n3']
const majority = 2

/** Messages to itself go through the network, too, as in LMC's experiment. */
export const paxos = ({ leaders, lastPromiseWins = false }: PaxosOptions): Handlers<Member> => {
  const toAll = (text: string): Out[] => names.map(to => ({ to, text }))
  return {
    names,
    initial: () => ({
      state: { promised: 0, accepted: null, round: 0, promises: [], votes: {}, chosen: null },
    }),
    own: (member, name) =>
      leaders.includes(name) && member.round === 0
        ? [
            {
              label: `${name} proposes`,
              next: () => {
                const round = names.indexOf(name) + 1
                return { state: { ...member, round }, sent: toAll(`prepare ${round}`) }
              },
            },
          ]
        : [],
    receive: (member, { from, text }, name) => {
      const [type, number, value, before] = text.split(' ')
      const round = Number(number)
      if (type === 'prepare') {
        if (round <= member.promised) return { state: member }
        const { round: last, value: accepted } = member.accepted ?? { round: 0, value: '-' }
        return {
          state: { ...member, promised: round },
          sent: [{ to: from, text: `promise ${round} ${accepted} ${last}` }],
        }
      }
      if (type === 'promise') {
        if (round !== member.round || member.promises.length >= majority) return { state: member }
        const reported = [from, Number(before), value === '-' ? null : value!] as const
        const promises = [...member.promises, reported]
        if (promises.length < majority) return { state: { ...member, promises } }
        const accepted = promises.filter(each => each[2] !== null)
        const [, , safe] = (lastPromiseWins ? promises.at(-1) : accepted.toSorted((a, b) => b[1] - a[1])[0]) ?? []
        return { state: { ...member, promises }, sent: toAll(`accept ${round} ${safe ?? `value-of-${name}`}`) }
      }
      if (type === 'accept') {
        if (round < member.promised) return { state: member }
        return {
          state: { ...member, promised: round, accepted: { round, value: value! } },
          sent: toAll(`learn ${round} ${value}`),
        }
      }
      const ballot = `${number} ${value}`
      const voters = [...new Set([...(member.votes[ballot] ?? []), from])].sort()
      const votes = { ...member.votes, [ballot]: voters }
      return { state: { ...member, votes, chosen: voters.length >= majority ? value! : member.chosen } }
    },
  }
}

export const agreement = always(({ nodes }: Whole<Member>) => {
  const chosen = nodes.flatMap(node => node.chosen ?? [])
  return new Set(chosen).size <= 1
})
