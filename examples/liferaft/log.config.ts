import { always, defineSystem, type GlobalState, type NodeHandle } from 'lastnail'
import local, { hasLeader, type Node } from './lastnail.config.ts'

/** Asks a node to append a command, which it does if it is the leader. */
const append = (node: NodeHandle, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const connection = node.tcp(7000)
    connection.on('error', reject).on('data', answer => {
      resolve(JSON.parse(String(answer)).type)
      connection.destroy()
    })
    connection.write(`${JSON.stringify({ type: 'append to the log', command })}\n`)
  })

/** What two nodes have committed is the same, as far as both have. */
const agree = ({ nodes }: GlobalState<Node>) => {
  const logs = nodes.flatMap(({ state }) => (state ? [state.committed] : []))
  return logs.every(log => logs.every(other => log.every((command, at) => at >= other.length || command === other[at])))
}

/** A leader is asked to append a command, and so is the next one: liferaft compares logs in a way that lets any be leader. */
export default defineSystem({
  ...local,
  name: 'liferaft-log',
  clients: {
    x: { run: ({ n1 }) => append(n1!, 'x'), times: 2 },
    y: { run: ({ n2 }) => append(n2!, 'y'), times: 2 },
  },
  properties: { stateMachineSafety: always(agree), someLeader: hasLeader },
  overlap: 0,
})
