/** Bytes that consequence prediction keeps for each state that it meets, as in CrystalBall's section 5: states in memory. */

import { Solo } from '../checker/cells/alone.ts'
import { Explorer } from '../checker/searches/deviations/explorer.ts'
import { Table } from '../checker/searches/local/table.ts'
import { Budget } from '../checker/system/budget.ts'
import { nodesOf } from '../test/checker/systems/handlers.ts'
import { paxos } from '../test/checker/systems/paxos.ts'
import { row } from './table.ts'

const nodes = nodesOf(paxos({ leaders: ['n1', 'n2'] }))
const table = new Table(nodes.names)
const solo = new Solo(nodes)
const perform = async (node: number, inputs: Parameters<Explorer<never>['learn']>[0]['input'][]) =>
  (await solo.perform({ start: { at: 'node', node: nodes.names[node]!, after: [], inputs } }, 0, new Budget({}))).last

const begun = await Promise.all(nodes.names.map(async (_, node) => table.begin(node, (await perform(node, []))!)))
const explorer = new Explorer({ nodes, properties: {}, table, order: 'consequence' }, begun, {
  inFlight: [],
  counts: new Map(),
})

const explore = async (transitions: number): Promise<void> => {
  while (!explorer.isDone && explorer.transitions < transitions) {
    const ask = explorer.next(1000)
    if (ask) explorer.learn(ask, await perform(ask.state.node, [...table.inputsTo(ask.state), ask.input]))
  }
}

const heapUsed = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

await explore(20_000)
const [before, few] = [heapUsed(), explorer.points]
await explore(400_000)
row('consequence prediction, memory of a state', ((heapUsed() - before) / (explorer.points - few)).toFixed(0), 'bytes')
row(`after ${explorer.transitions} steps in memory, to depth ${explorer.depth}`, `${explorer.points}`, 'states')
