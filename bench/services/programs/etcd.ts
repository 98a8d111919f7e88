import { always, defineSystem, type NodeHandle } from 'lastnail'
import { etcdMembers } from './etcd-members.ts'

const ask = async (node: NodeHandle, path: string, asked: object): Promise<unknown> => {
  const { body } = await node.http(2379, path, { method: 'POST', body: JSON.stringify(asked) })
  return body.json()
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Three members with their own defaults. */
export const etcd = (system: string, program: string) =>
  defineSystem({
    name: system,
    nodes: etcdMembers(program, ['n1', 'n2', 'n3']),
    state: node => /raft.*became .*/.exec(node.output().stderr)?.[0],
    clients: {
      put: {
        run: ({ n1 }, { ordinal }) => ask(n1!, '/v3/kv/put', { key: base64('x'), value: base64(`${ordinal}`) }),
        times: 20,
      },
      get: { run: ({ n2 }) => ask(n2!, '/v3/kv/range', { key: base64('x') }), times: 20 },
      local: { run: ({ n3 }) => ask(n3!, '/v3/kv/range', { key: base64('x'), serializable: true }), times: 20 },
    },
    // Servers find each other first, and are asked all along.
    weights: { client: 0.1 },
    properties: { answers: always(({ nodes }) => nodes.length === 3) },
  })
