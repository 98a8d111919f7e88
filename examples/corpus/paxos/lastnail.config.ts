import { always, defineSystem, frames, type GlobalState, jsonLines, type NodeView } from 'lastnail'

interface Member {
  promised: number
  accepted: { round: number; value: string } | null
  chosen: string | null
}

interface Message {
  type: string
  round: number
  value?: string
  accepted?: { round: number; value: string } | null
}

const names = ['n1', 'n2', 'n3'] as const
const address = (name: string) => `{{${name}.address}}:7000`
const member = (name: string, value: string) => ({
  command: ['node', '--no-memory-reducer', 'node.js', address(name), 'disk', value, ...names.map(address)],
  env: { BUG: process.env.BUG ?? '' },
})

/** The rounds that a member accepted since it was started, in order. */
const acceptedRounds = ({ output }: NodeView<Member>): number[] =>
  output.stdout
    .split('\n')
    .slice(0, -1)
    .flatMap(line => (JSON.parse(line) as Member).accepted?.round ?? [])

const label = ({ type, round, value, accepted }: Message) => {
  const reported = accepted && ` has ${accepted.value} of ${accepted.round}`
  return [type, round, value].filter(part => part !== undefined).join(' ') + (reported ?? '')
}

export default defineSystem({
  name: 'paxos',
  nodes: { n1: member('n1', 'red'), n2: member('n2', 'green'), n3: member('n3', 'blue') },
  state: jsonLines<Member>('stdout'),
  properties: {
    agreement: always(({ nodes }: GlobalState<Member>) => {
      const chosen = nodes.flatMap(({ state }) => state?.chosen ?? [])
      return new Set(chosen).size <= 1
    }),
    acceptedRoundsIncrease: always(({ nodes }: GlobalState<Member>) =>
      nodes.map(acceptedRounds).every(rounds => rounds.every((round, i) => i === 0 || round >= rounds[i - 1]!)),
    ),
  },
  // A datagram that is late enough is as good as lost: only restarts are faults of their own.
  faults: { reset: 2 },
  // A handler runs to its end before the next one begins.
  overlap: 0,
  messages: frames.jsonLines(label),
})
