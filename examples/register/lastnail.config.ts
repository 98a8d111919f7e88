import {
  type CallContext,
  defineSystem,
  frames,
  linearizable,
  models,
  type NodeHandle,
  sequentiallyConsistent,
} from 'lastnail'

const names = ['n1', 'n2', 'n3'] as const
const node = (name: string) => ({
  command: [
    'node',
    'node.js',
    ...[name, ...names.filter(other => other !== name)].map(each => `{{${each}.address}}:7000`),
  ],
  env: { BUG: process.env.BUG ?? '' },
})

const ask = async (node: NodeHandle, message: object) =>
  JSON.parse(String(await node.udp(7000, JSON.stringify(message))))

const write = (node: NodeHandle, value: number, { operation }: CallContext) =>
  operation({ op: 'write', value }, async () => {
    await ask(node, { type: 'write', value })
  })

const read = (node: NodeHandle, { operation }: CallContext) =>
  operation({ op: 'read' }, async () => (await ask(node, { type: 'read' })).value)

export default defineSystem({
  name: 'register',
  nodes: { n1: node('n1'), n2: node('n2'), n3: node('n3') },
  clients: {
    ann: ({ n1 }, call) => write(n1, 1, call),
    bob: async ({ n1, n2 }, call) => {
      await read(n1, call)
      await read(n2, call)
    },
  },
  properties: {
    linearizable: linearizable(models.register(0)),
    sequentiallyConsistent: sequentiallyConsistent(models.register(0)),
  },
  // No state of a node is looked at, so it is told by what came in.
  fingerprint: 'history',
  // A handler runs to its end, or to its wait for a majority, before the next one begins.
  overlap: 0,
  messages: frames.jsonLines(({ type, version }: { type: string; version?: { value: number } }) =>
    [type, version?.value].join(' ').trim(),
  ),
})
