import { always, defineSystem, frames, type GlobalState } from 'lastnail'
import { compact, type Member, members, put, readThenPut, status } from './etcd.ts'

/** Three members that apply the same log. */
export default defineSystem({
  name: 'etcd-txn',
  nodes: members(['n1', 'n2', 'n3']),
  messages: { 2380: frames.http1() },
  state: status,
  clients: {
    put: { run: ({ n1 }, { ordinal }) => put(n1!, 'x', `${ordinal}`), times: 2 },
    compact: ({ n1 }) => compact(n1!),
    transaction: { run: ({ n1 }) => readThenPut(n1!, 2), times: 2 },
  },
  properties: {
    sameRevision: always(({ nodes }: GlobalState<Member | undefined>) =>
      nodes.every(({ state }) =>
        nodes.every(other => state?.applied !== other.state?.applied || state?.revision === other.state?.revision),
      ),
    ),
  },
  overlap: 0,
})
