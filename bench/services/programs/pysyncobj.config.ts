import { always, defineSystem, type NodeHandle } from 'lastnail'

const names = ['n1', 'n2', 'n3']
const address = (name: string) => `{{${name}.address}}:4321`
const member = (name: string) => ({
  command: ['python3', 'syncobj.py', address(name), ...names.filter(other => other !== name).map(address)],
  env: { PYTHONPATH: 'cache' },
  listens: [4321, 8080],
})
const add = async (node: NodeHandle) => (await node.http(8080, '/')).statusCode

/** A counter that three members of a cluster of PySyncObj replicate, with its own defaults. */
export default defineSystem({
  name: 'pysyncobj',
  nodes: Object.fromEntries(names.map(name => [name, member(name)])),
  state: node => node.output().stdout.length,
  clients: { a: { run: ({ n1 }) => add(n1!), times: 20 }, b: { run: ({ n2 }) => add(n2!), times: 20 } },
  // Members find each other first, and are asked all along.
  weights: { client: 0.3, timer: 2 },
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
