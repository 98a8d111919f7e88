/** Whether one schedule gives one trace: executes the same 200 steps of three processes fifty times from a fresh start. */
import { join } from 'node:path'
import { traceHash } from '../checker/trace/hash.ts'
import { row } from './table.ts'
import { differenceOf, executeAgain, executeAny, type Kind, kinds, systemOf } from './trio.ts'

const steps = 200
const executions = 50
const root = join(import.meta.dirname, '../..')

const measure = async (kind: Kind) => {
  const system = await systemOf(kind, root)
  const first = await executeAny(system, steps, 1)
  const hashes = new Map([[traceHash({ steps: first }), 1]])
  for (let count = 1; count < executions; count++) {
    const again = await executeAgain(system, first)
    const hash = traceHash({ steps: again })
    const difference = differenceOf(first, again)
    if (difference !== undefined && !hashes.has(hash)) console.log(difference)
    hashes.set(hash, (hashes.get(hash) ?? 0) + 1)
  }
  const same = hashes.get(traceHash({ steps: first }))!
  row(`identical traces of ${steps} steps, three ${kind} processes`, `${same}`, `of ${executions}`)
  if (same < executions) process.exitCode = 1
}

for (const kind of kinds) await measure(kind)
