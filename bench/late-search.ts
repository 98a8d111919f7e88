/**
 * What an execution of a search costs beside its steps, if the search begins late in a run: `node dist/bench/late-search.js
 * [--for 10s]`, after `npm run build && npx tsc -p bench`. Steps of a system in memory take no time, and saving it takes none,
 * so what is left is the checker's own work and what goes to a worker process and back.
 */
import { parseArgs } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { type Cell, OwnCell } from '../checker/cells/cell.ts'
import { checkInCells } from '../checker/check.ts'
import { Budget } from '../checker/system/budget.ts'
import { always } from '../checker/system/property.ts'
import { startAfter } from '../checker/system/start.ts'
import type { Checkpoint, Choice, System } from '../checker/system/system.ts'
import { InCommon } from '../cli/workers/in-common.ts'

const { values } = parseArgs({ options: { for: { type: 'string', default: '10s' } } })
const milliseconds = 1000 * Number.parseFloat(values.for)

const nodes = 25

interface Saved extends Checkpoint {
  readonly steps: number
}

/** A message to one of the nodes after the other; behind the run, there are three at a time. */
class Messages implements System<number> {
  readonly #runSteps: number
  #steps = 0

  constructor(runSteps: number) {
    this.#runSteps = runSteps
  }

  async reset() {
    this.#steps = 0
    return []
  }

  enabled() {
    return Array.from({ length: this.#steps < this.#runSteps ? 1 : 3 }, (_, ordinal) => this.#message(ordinal))
  }

  async execute(choice: Choice) {
    this.#steps += 1
    return { choice, findings: [] }
  }

  state() {
    return this.#steps
  }

  fingerprint() {
    return `${this.#steps}`.padStart(40, '0')
  }

  async checkpoint(): Promise<Saved> {
    return { steps: this.#steps, discard: async () => undefined }
  }

  async restore(saved: Checkpoint) {
    this.#steps = (saved as Saved).steps
  }

  #message(ordinal: number): Choice {
    const [from, to] = [`n${(this.#steps * 7) % nodes}`, `n${this.#steps % nodes}`]
    const label = `${from}→${to} #${this.#steps} heartbeat ${ordinal}`
    return { kind: 'deliver', node: to, from, to, label, subject: 'heartbeat', numbers: [this.#steps, ordinal] }
  }
}

/** What a worker process gets and answers, without the process. */
const throughBytes = (cell: Cell): Cell => {
  const [here, there] = [new InCommon(), new InCommon()]
  const sent = <Value>(value: Value): Value => deserialize(serialize(value))
  return {
    end: () => cell.end(),
    perform: async (task, variant, budget) => {
      const received = there.taskReceived(sent(here.taskToSend(task))) as typeof task
      const outcome = await cell.perform(received, variant, budget)
      return here.outcomeReceived(sent(there.outcomeToSend(outcome))) as typeof outcome
    },
  }
}

/** Milliseconds for an execution of a search that begins after so many steps. */
const measure = async (runSteps: number): Promise<number> => {
  const run = new Messages(runSteps)
  const from: string[] = []
  while (from.length < runSteps) {
    const [next] = run.enabled()
    from.push(next!.label)
    await run.execute(next!)
  }
  const properties = { good: always(() => true) }
  const cell = throughBytes(new OwnCell(new Messages(runSteps), properties))
  await cell.perform({ start: startAfter(from) }, 0, new Budget({}))
  const begun = performance.now()
  const { executions } = await checkInCells([cell], properties, { from, seed: 1, milliseconds, walkLength: 200 })
  return (performance.now() - begun) / executions
}

console.log('| steps of the run | ms for an execution |')
console.log('| ---: | ---: |')
for (const steps of [0, 5_000, 50_000, 458_000])
  console.log(`| ${steps.toLocaleString('en')} | ${(await measure(steps)).toFixed(1)} |`)
