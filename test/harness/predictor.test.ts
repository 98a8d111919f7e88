import { readdirSync, readFileSync } from 'node:fs'
import { queryObjects } from 'node:v8'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Executor } from '../../checker/cells/executor.ts'
import { due } from '../../checker/choosers/due.ts'
import { Cluster } from '../../harness/cluster.ts'
import {
  always,
  type GlobalState,
  jsonLines,
  resolveSystem,
  type SystemDefinition,
} from '../../harness/config/config.ts'
import { ClusterMark } from '../../harness/execution/mark.ts'
import { Stage } from '../../harness/execution/stage.ts'
import { Outlook, type OutlookLimits } from '../../harness/steering/outlook.ts'
import { Predictor, type PredictorOptions } from '../../harness/steering/predictor.ts'
import { systemInTime } from '../../harness/timed/timed-system.ts'
import { meshTiming } from './timed/mesh.ts'

const give = `
  const socket = require('node:dgram').createSocket('udp4')
  let number = 0
  const giving = setInterval(() => {
    number += 1
    if (number === 6) clearInterval(giving)
    console.log(JSON.stringify({ number }))
    socket.send(String(number), 7000, process.env.TO)
  }, 300)
`
const take = `
  const socket = require('node:dgram').createSocket('udp4')
  socket.on('message', data => console.log(JSON.stringify({ number: Number(data) }))).bind(7000)
`

const neverFive = always<{ number: number }>(state => state.node('taker').state?.number !== 5)
const neverSeven = always<{ number: number }>(state => state.node('taker').state?.number !== 7)

/** A run in which the fifth number that arrives violates a property; some steps of it were executed. */
const runWithPredictor = async (
  more: Partial<SystemDefinition> = {},
  { roundMs }: Pick<PredictorOptions, 'roundMs'> = {},
) => {
  const system = resolveSystem(
    {
      name: 'numbers',
      nodes: {
        giver: { command: ['node', '-e', give], env: { TO: '{{taker.address}}' } },
        taker: { command: ['node', '-e', take] },
      },
      state: jsonLines<{ number: number }>('stdout'),
      properties: { neverFive },
      ...more,
    },
    { directory: import.meta.dirname },
  )
  const timing = meshTiming(['giver', 'taker'], () => ({ delayMs: 10 }))
  const cluster = new Cluster(systemInTime(system, timing), { seed: 1, timing })
  onTestFinished(() => cluster.close())
  onTestFinished(() => void vi.restoreAllMocks())
  const executor = new Executor<GlobalState>(cluster, system.properties)
  await executor.reset()
  const limits = {
    inputsMax: 200,
    transitionsMax: 5000,
    isSteered: true,
    roundMs,
    signal: new AbortController().signal,
  }
  /** One that has learned nothing yet. */
  const another = () => {
    const predictor = new Predictor(cluster, system, limits)
    return { predictor, look: () => predictor.look(executor.mark(), { requested: [] }) }
  }
  const { predictor, look } = another()
  const goOn = async (steps = 2) => {
    for (let step = 0; step < steps; step++) await executor.execute(due(executor.enabled())!)
  }
  return { predictor, look, another, goOn, executor }
}

test('ways that violated something before are tried first in each round, on the whole system', async () => {
  const { predictor, look, goOn } = await runWithPredictor()
  const first = await look()
  expect(first.foreseen).toMatchObject([{ property: 'neverFive', isNew: true }])
  await goOn()
  const did: string[] = []
  const { execute, predict } = Outlook.prototype
  vi.spyOn(Outlook.prototype, 'execute').mockImplementation(function (this: Outlook, way) {
    did.push(`execute ${way.labels.at(-1)}`)
    return execute.call(this, way)
  })
  vi.spyOn(Outlook.prototype, 'predict').mockImplementation(function (this: Outlook, ...about) {
    did.push(about[2].prevented ? 'search with something prevented' : 'search')
    return predict.call(this, ...about)
  })
  const second = await look()
  expect(second.foreseen).toMatchObject([{ property: 'neverFive', isNew: false }])
  // What it leads to is known, so it is only searched for what prevents it.
  expect(did).toEqual([`execute ${first.foreseen[0]!.labels.at(-1)}`, 'search with something prevented'])
  expect(second.filters.map(({ label }) => label)).toEqual(first.filters.map(({ label }) => label))
  expect(predictor.counts).toMatchObject({ rounds: 2, predicted: 2 })
})

test('what a search by deviations does not find, one by consequence does, with the inputs that are left', async () => {
  const { look } = await runWithPredictor()
  const { predict } = Outlook.prototype
  const searches: Pick<OutlookLimits, 'order' | 'inputsMax' | 'costMax'>[] = []
  const found = { suspicions: [], inputs: 7, transitions: 7, states: 7, depth: 1, deviations: 1 }
  vi.spyOn(Outlook.prototype, 'predict').mockImplementation(async function (this: Outlook, ...about) {
    const { order, inputsMax, costMax } = about[2]
    searches.push({ order, inputsMax, ...(costMax !== undefined && { costMax }) })
    if (order === 'consequence') return predict.call(this, ...about)
    return { ...found, isDone: true, isLost: false, undecided: new Map() }
  })
  const { foreseen, filters } = await look()
  expect(searches.slice(0, 2)).toEqual([
    { order: 'deviations', inputsMax: 150 },
    { order: 'consequence', inputsMax: 193 },
  ])
  expect(foreseen).toMatchObject([{ property: 'neverFive', order: 'consequence', isNew: true }])
  // What prevents it is looked for in the same order, at most as far away.
  const costMax = foreseen[0]!.cost
  const later = searches.slice(2)
  expect(later).toEqual(later.map(({ inputsMax }) => ({ order: 'consequence', inputsMax, costMax })))
  expect(filters).toHaveLength(1)
})

test('what nodes did in one round is not asked of them again in the next', async () => {
  const { look, goOn, predictor, another } = await runWithPredictor({ properties: { neverSeven } })
  await look()
  const first = predictor.counts.inputs
  await goOn()
  await look()
  const anew = another()
  await anew.look()
  expect(anew.predictor.counts.inputs).toBeGreaterThan(1)
  expect(predictor.counts.inputs - first).toBeLessThan(anew.predictor.counts.inputs / 2)
  expect(predictor.counts.transitions).toBeGreaterThan(anew.predictor.counts.transitions)
})

test('a round searches no longer than it may', async () => {
  const { look, predictor } = await runWithPredictor({}, { roundMs: 0 })
  expect((await look()).foreseen).toEqual([])
  expect(predictor.counts).toMatchObject({ rounds: 1, inputs: 0, transitions: 0 })
})

test('what a round remembers of nodes does not hold the stages on which they were executed', async () => {
  const { predictor, look, goOn } = await runWithPredictor()
  const count = () => queryObjects(Stage, { format: 'count' }) as number
  const before = count()
  await look()
  await goOn()
  expect(predictor.counts.inputs).toBeGreaterThan(10)
  // A stage of the start may not have been let go when these were counted first; what inputs held would be more than ten.
  expect(count()).toBeLessThanOrEqual(before)
})

test('a round whose mark is lost comes to nothing, and the run goes on', async () => {
  const { predictor, look, goOn, executor } = await runWithPredictor()
  const lost = vi.spyOn(ClusterMark.prototype, 'isLost', 'get').mockReturnValue(true)
  expect(await look()).toEqual({ foreseen: [], suspected: [], filters: [] })
  expect(predictor.counts).toMatchObject({ unmarked: 1, predicted: 0 })
  lost.mockRestore()
  await goOn()
  expect(executor.violation).toBeUndefined()
})

test('what single nodes could do is not steered for unless it violates something in the whole system', async () => {
  const { predictor, look } = await runWithPredictor()
  const execute = vi.spyOn(Outlook.prototype, 'execute').mockResolvedValue(undefined)
  expect(await look()).toEqual({ foreseen: [], suspected: [], filters: [] })
  expect(execute).toHaveBeenCalled()
  expect(predictor.counts).toMatchObject({ predicted: 0, vain: execute.mock.calls.length })
  execute.mockRestore()
  const { filters } = await look()
  expect(filters).toHaveLength(1)
})

test('while a property is false, violations of others are predicted', async () => {
  const neverOne = always<{ number: number }>(state => (state.node('taker').state?.number ?? 0) < 1)
  const { look, goOn, executor } = await runWithPredictor({ properties: { neverOne, neverFive } })
  while (executor.violation === undefined) await goOn(1)
  const { foreseen } = await look()
  expect(foreseen).toMatchObject([{ property: 'neverFive', isNew: true }])
  // Steps after which it is still false are no way to a violation of it.
  expect(foreseen[0]!.labels.length).toBeGreaterThan(3)
})

test('lives that began in a prediction have ended after it', async () => {
  const name = `lives-of-${process.pid}`
  const command = ['node', '-e', `${take} // ${name}`]
  const { look, predictor } = await runWithPredictor({
    nodes: { giver: { command: ['node', '-e', give], env: { TO: '{{taker.address}}' } }, taker: { command } },
    properties: { neverFive: always(() => true) },
    faults: { reset: 2 },
  })
  const count = () => processesNamed(name).length
  expect(count()).toBe(1)
  await look()
  expect(predictor.counts.inputs).toBeGreaterThan(10)
  expect(count()).toBe(1)
})

const processesNamed = (name: string): string[] =>
  readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name)
    } catch {
      return false
    }
  })
