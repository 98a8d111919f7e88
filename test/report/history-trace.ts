import type { Trace } from '../../checker/trace/trace.ts'
import { syntheticTrace } from './synthetic.ts'

type Operation = Trace['steps'][number]['operations'][number]

const read = { process: 'bob', op: 'read' }
const operations: readonly Operation[] = [
  { process: 'ann', op: 'write', value: 1, outcome: 'ok', invoked: 0, returned: 3, invokedAt: 2, returnedAt: 9 },
  { ...read, outcome: 'ok', result: 1, invoked: 1, returned: 2, invokedAt: 3, returnedAt: 6 },
  { ...read, outcome: 'ok', result: 0, invoked: 4, returned: 5, invokedAt: 10, returnedAt: 14 },
  { process: 'cid', op: 'write', value: 2, outcome: 'unknown', invoked: 6, invokedAt: 11 },
]

/** A run in which two reads contradict each other. */
export const historyTrace = (): Trace => {
  const trace = syntheticTrace(16)
  const message = `linearizable does not hold after step 16: no register has these operations in any order, each between its invocation and its return:
    bob  step 3 to 6    read → 1
    bob  step 10 to 14  read → 0`
  return {
    ...trace,
    header: {
      ...trace.header,
      config: { path: '/srv/register/lastnail.config.ts', sha256: '' },
      nodes: trace.header.nodes.map(node => ({ ...node, env: { PEER: "n2's" } })),
    },
    steps: trace.steps.map(step => ({
      ...step,
      operations: operations.filter(({ invokedAt, returnedAt }) => [invokedAt, returnedAt].includes(step.index)),
    })),
    end: { verdict: { verdict: 'violated', kind: 'safety', property: 'linearizable', message } },
  }
}
