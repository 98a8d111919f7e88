/** Bytes that consequence prediction keeps for each state that it meets, as in CrystalBall's section 5: states in memory. */
import { createHash } from 'node:crypto'
import { Budget } from '../checker/budget.ts'
import { OwnCell } from '../checker/cells/cell.ts'
import { Random } from '../checker/random.ts'
import { ConsequenceSearch } from '../checker/searches/consequence.ts'
import { Experience } from '../checker/searches/experience.ts'
import { initial } from '../checker/start.ts'
import { HandlerSystem } from '../test/checker/systems/handlers.ts'
import { paxos } from '../test/checker/systems/paxos.ts'
import { row } from './table.ts'

/** With fingerprints as those of real processes. */
class Hashed<Local> extends HandlerSystem<Local> {
  override fingerprint(): string {
    return createHash('sha1').update(super.fingerprint()).digest('hex')
  }
}

const heapUsed = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const experience = new Experience({ walkLength: undefined, begin: initial, liveness: [], random: new Random(1) })
const search = new ConsequenceSearch(experience)
const cell = new OwnCell(new Hashed(paxos({ leaders: ['n1', 'n2'] })), {})

const explore = async (executions: number): Promise<void> => {
  for (let done = 0; done < executions; done++) {
    const asked = search.next()
    if (asked === undefined) return
    search.learn(asked, await cell.perform(asked.task, 0, new Budget({})))
  }
}

await explore(1000)
const before = heapUsed()
const { states: statesBefore } = search.coverage()
await explore(20_000)
const bytes = heapUsed() - before
const { executions, states, longest } = search.coverage()
row('consequence prediction, memory of a state', (bytes / (states - statesBefore)).toFixed(0), 'bytes')
row(`after ${executions} executions of at most ${longest} steps`, `${states}`, 'states')
await cell.end()
