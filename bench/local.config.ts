import { join } from 'node:path'
import { always, defineSystem, type GlobalState, jsonLines } from 'lastnail'

interface Member {
  readonly chosen: string | null
}

const program = join(import.meta.dirname, '../../bench/service/one-proposal.mjs')
const names = ['n1', 'n2', 'n3'] as const
const values = ['red', 'green', 'blue']
const leaders = Number(process.env.LEADERS ?? 1)
const addresses = names.map(name => `{{${name}.address}}:7000`)

/** Three members of a Paxos group, of which the first, or as many as `LEADERS` says, make one proposal each. */
export default defineSystem({
  name: 'one-proposal',
  nodes: Object.fromEntries(
    names.map((name, index) => [
      name,
      {
        command: [
          'node',
          '--no-memory-reducer',
          program,
          addresses[index]!,
          index < leaders ? values[index]! : '',
          ...addresses,
        ],
      },
    ]),
  ),
  state: jsonLines<Member>('stdout'),
  properties: {
    agreement: always<Member>(
      ({ nodes }: GlobalState<Member>) => new Set(nodes.flatMap(({ state }) => state?.chosen ?? [])).size <= 1,
    ),
  },
  faults: { drop: 0, duplicate: 0, reset: 0, crash: 0, partition: 0 },
  overlap: 0,
})
