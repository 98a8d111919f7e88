import { configuredFaults } from '../../harness/config/schema.ts'
import { quoted } from '../../report/model/quoted.ts'

/** A program that becomes a node. */
export interface AskedProgram {
  readonly name: string
  readonly command: readonly string[]
  /** TCP ports on which it listens. */
  readonly ports: readonly number[]
}

/** The text of a first configuration. It runs as it is, and its comments say what to add next. */
export const configForCompose = (
  name: string,
  compose: string,
  nodes: readonly string[],
) => `import { always, defineSystem, fromCompose } from 'lastnail'

export default defineSystem({
  name: '${name}',
  nodes: fromCompose(${quoted(compose)}), // ${nodes.join(', ')}
${rest(nodes[0]!, 8080)}`

/** The same for programs of this machine. */
export const configForPrograms = (
  name: string,
  programs: readonly AskedProgram[],
) => `import { always, defineSystem } from 'lastnail'

export default defineSystem({
  name: '${name}',
  // A process each. They find each other by these names, as host names; '{{${programs[0]!.name}.address}}' stands for an address.
  // A node may also have env: { … } and cwd: '…'. By \`exits: 'restart'\` it may end, and is started again, as by a supervisor.
  nodes: {
${programs.map(nodeLine).join('\n')}
  },
${rest(programs[0]!.name, programs[0]!.ports[0] ?? 8080)}`

const nodeLine = ({ name, command, ports }: AskedProgram): string => {
  const words = command.map(quoted).join(', ')
  const listens = ports.length === 0 ? '' : `, listens: ${ports.length === 1 ? ports[0] : `[${ports.join(', ')}]`}`
  return `    ${/^[a-z]\w*$/i.test(name) ? name : quoted(name)}: { command: [${words}]${listens} },`
}

const rest = (
  node: string,
  port: number,
) => `  // How the state of a node is seen, which properties speak of: from its output, a file, a command, or over HTTP.
  // state: jsonLines('stdout'),
  // state: async node => (await node.http(${port}, '/state')).body.json(),
  // Calls from outside, each begun by a choice.
  // clients: { put: async nodes => (await nodes['${node}']!.http(${port}, '/', { method: 'POST', body: 'x' })).statusCode },
  properties: {
    // What must hold in every state. That no node crashes and none spins is checked in any case.
    everyNodeIsUp: always(({ nodes }) => nodes.every(({ alive }) => alive)),
    // What must, from every state, become true again.
    // someLeader: eventually(({ nodes }) => nodes.some(({ state }) => state?.role === 'leader')),
  },
  // How many of each one execution may have.
  faults: { ${configuredFaults.map(kind => `${kind}: 0`).join(', ')} },
  // The longest time that a message is in flight. Without it a network is as slow as it likes, and timeouts are tried early.
  // delay: '2s',
})
`
