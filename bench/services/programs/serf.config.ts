import { always, defineSystem } from 'lastnail'

const names = ['n1', 'n2', 'n3']
const agent = (name: string) => ({
  command: ['cache/serf', 'agent', `-node=${name}`, `-bind={{${name}.address}}`, '-retry-join={{n1.address}}'],
  listens: [7946],
})

/** Three members that find and watch each other by gossip. */
export default defineSystem({
  name: 'serf',
  nodes: Object.fromEntries(names.map(name => [name, agent(name)])),
  state: node => node.output().stdout.length,
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
