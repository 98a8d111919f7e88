import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Solo } from '../../../../checker/cells/alone.ts'
import { check, type Progress, type SystemCheckOptions } from '../../../../checker/check.ts'
import { predict } from '../../../../checker/searches/deviations/predict.ts'
import { Table, type TableOptions } from '../../../../checker/searches/local/table.ts'
import { Budget } from '../../../../checker/system/budget.ts'
import { MarkLost } from '../../../../checker/system/errors.ts'
import type { NodeSight } from '../../../../checker/system/node-system.ts'
import { always, type Property } from '../../../../checker/system/property.ts'
import { HandlerSystem, type Handlers, nodesOf, searchDepthFirst, type Whole } from '../../systems/handlers.ts'
import { machines } from '../../systems/machines.ts'
import { agreement, type Member, paxos } from '../../systems/paxos.ts'

/** A whole search by deviations. Gives the states of the system that properties saw, and how many there are with what is in flight. */
const searchByDeviations = async <Local>(
  handlers: Handlers<Local>,
  options: TableOptions & { readonly within?: ReadonlySet<string>; readonly table?: Table } = {},
) => {
  const seen = new Set<string>()
  const look: Property<Whole<Local>> = always(({ nodes }) => seen.add(JSON.stringify(nodes)).size > 0)
  const nodes = nodesOf(handlers)
  const table = options.table ?? new Table(nodes.names, options)
  const begin = { after: [], variant: 0 }
  const limits = { inputsMax: Number.POSITIVE_INFINITY, budget: new Budget({}), within: options.within }
  const came = await predict({ nodes, properties: { look }, table, solo: new Solo(nodes), begin, ...limits })
  return { seen, ...came }
}

test('by any number of deviations it comes to exactly the states that depth-first search comes to', async () => {
  await fc.assert(
    fc.asyncProperty(machines, async handlers => {
      const reached = new Set<string>()
      const { states } = searchDepthFirst(handlers, locals => reached.add(JSON.stringify(locals)))
      const { seen, states: found, isDone } = await searchByDeviations(handlers)
      expect(isDone).toBe(true)
      expect(seen).toEqual(reached)
      expect(found).toBe(states)
    }),
    { numRuns: 40 },
  )
})

test('a table that forgets every second outcome finds the same', async () => {
  await fc.assert(
    fc.asyncProperty(machines, async handlers => {
      const whole = await searchByDeviations(handlers)
      const forgetful = await searchByDeviations(handlers, { forgets: count => count % 2 === 0 })
      const small = await searchByDeviations(handlers, { outcomesMax: 4 })
      for (const each of [forgetful, small]) {
        expect(each.seen).toEqual(whole.seen)
        expect(each).toMatchObject({ states: whole.states, transitions: whole.transitions, isDone: true })
        expect(each.inputs).toBeGreaterThanOrEqual(whole.inputs)
      }
    }),
    { numRuns: 20 },
  )
})

test('a table forgets half of its states between two searches, if there are too many, and then finds the same', async () => {
  await fc.assert(
    fc.asyncProperty(machines, async handlers => {
      const table = new Table(handlers.names, { statesMax: 2 })
      const whole = await searchByDeviations(handlers, { table })
      const known = table.size
      const { states, transitions } = whole
      table.beginAnew()
      expect(table.size).toBe(known > 2 ? 1 : known)
      const again = await searchByDeviations(handlers, { table })
      expect(again.seen).toEqual(whole.seen)
      expect(again).toMatchObject({ states, transitions, isDone: true })
      expect(table.size).toBe(known)
    }),
    { numRuns: 20 },
  )
})

test('within a neighbourhood the other nodes stay where they are', async () => {
  await fc.assert(
    fc.asyncProperty(machines, async handlers => {
      const whole = await searchByDeviations(handlers)
      const [first, ...others] = handlers.names
      const some = await searchByDeviations(handlers, { within: new Set([first!]) })
      const beginnings = others.map(name => handlers.initial(name).state)
      expect(some.isDone).toBe(true)
      for (const state of some.seen) {
        expect(JSON.parse(state).slice(1)).toEqual(beginnings)
        expect(whole.seen).toContain(state)
      }
    }),
    { numRuns: 20 },
  )
})

test('a search whose beginning is lost ends there, and takes no input that was not tried for one that is refused', async () => {
  await fc.assert(
    fc.asyncProperty(machines, fc.integer({ min: 0, max: 10 }), async (handlers, inputsMax) => {
      const whole = await searchByDeviations(handlers)
      const nodes = nodesOf(handlers)
      const solo = new Solo(nodes)
      let inputs = 0
      const failing: Pick<Solo, 'perform'> = {
        perform: async (...task) => {
          if (task[0].start.inputs.length > 0 && inputs++ === inputsMax) throw new MarkLost()
          return solo.perform(...task)
        },
      }
      const table = new Table(nodes.names)
      const searchWith = async (perform: Pick<Solo, 'perform'>) =>
        predict({
          ...{ nodes, properties: {}, table, solo: perform, begin: { after: [], variant: 0 } },
          ...{ inputsMax: Number.POSITIVE_INFINITY, budget: new Budget({}) },
        })
      const first = await searchWith(failing)
      expect(first.isLost).toBe(whole.inputs > inputsMax)
      if (first.isLost) expect(first.isDone).toBe(false)
      // From the same table, which must have learned nothing wrong.
      expect(await searchWith(solo)).toMatchObject({ states: whole.states, isDone: true, isLost: false })
    }),
    { numRuns: 30 },
  )
})

test('what bounded search finds in small systems is found by deviations, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(machines, async handlers => {
      const never = always<Whole<number>>(({ nodes }) => !(nodes[0] === 2 && nodes[1] === 2))
      const searchWith = (search: 'bounded' | 'deviations') =>
        check(new HandlerSystem(handlers), { never }, { search, nodes: nodesOf(handlers), milliseconds: 60_000 })
      const { verdict, coverage } = await searchWith('deviations')
      expect(verdict).toBe((await searchWith('bounded')).verdict)
      if (verdict === 'held') expect(coverage.deviations?.exhausted).toBe(true)
    }),
    { numRuns: 40 },
  )
})

test('two leaders that take the last promise choose two values, which takes few deviations', async () => {
  const handlers = paxos({ leaders: ['n1', 'n2'], lastPromiseWins: true })
  const options = { search: 'deviations', nodes: nodesOf(handlers), milliseconds: 60_000 } as const
  const verdict = await check(new HandlerSystem(handlers), { agreement }, options)
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'agreement', repeated: true })
  expect(verdict.discovery?.by).toBe('deviations')
  expect(verdict.coverage.deviations).toMatchObject({ deviations: 2 })
})

test('a message that is late while others pass and timers fire is one deviation', async () => {
  const turns = ['red', 'blue', 'green', 'white', 'black', 'grey']
  const handlers: Handlers<number> = {
    names: ['clock', 'one', 'peer'],
    initial: name => ({ state: 0, sent: name === 'one' ? [{ to: 'peer', text: 'begin' }] : [] }),
    // The peer counts turns, until it is told to begin.
    receive: (state, { text }) => ({ state: text === 'begin' ? state + 100 : state < 100 ? state + 1 : state }),
    own: (state, name) =>
      name === 'clock' && state < turns.length
        ? [{ label: turns[state]!, next: () => ({ state: state + 1, sent: [{ to: 'peer', text: turns[state]! }] }) }]
        : [],
  }
  const inTime = always<Whole<number>>(({ nodes }) => nodes[2] !== 100 + turns.length)
  const nodes = nodesOf(handlers)
  const { suspicions } = await predict({
    ...{ nodes, properties: { inTime }, table: new Table(nodes.names), solo: new Solo(nodes) },
    ...{ begin: { after: [], variant: 0 }, inputsMax: Number.POSITIVE_INFINITY, budget: new Budget({}) },
  })
  expect(suspicions).toMatchObject([{ what: 'inTime', deviations: 1 }])
})

const checkPaxos = (options: Omit<SystemCheckOptions<Whole<Member>>, 'nodes'>, of = {}) => {
  const handlers = paxos({ leaders: ['n1', 'n2'] })
  return check(new HandlerSystem(handlers), { agreement }, { nodes: { ...nodesOf(handlers), ...of }, ...options })
}

test('it takes turns in auto, from the start and from a given state, but not where executions are counted', async () => {
  const from = ['n1 proposes', 'n1→n1 #1 prepare 1']
  for (const begin of [{}, { from }]) {
    const enough = new AbortController()
    const onProgress = ({ executions }: Progress) => executions >= 40 && enough.abort()
    const { coverage } = await checkPaxos({ ...begin, milliseconds: 60_000, signal: enough.signal, onProgress })
    expect(coverage.deviations?.executed).toBeGreaterThan(0)
    expect(coverage.searches.map(({ name }) => name)).toEqual(expect.arrayContaining(['race', 'deviations']))
    expect((await checkPaxos({ ...begin, executions: 20 })).coverage.deviations).toBe(null)
  }
})

test('where a node cannot be marked, each of its inputs is as much as an execution of the others', async () => {
  const { alone } = nodesOf(paxos({ leaders: ['n1', 'n2'] }))
  const unmarked = (name: string) => Object.assign(alone(name), { mark: () => undefined, goBack: () => false })
  const inputsIn = async (of: object) => {
    const enough = new AbortController()
    const onProgress = ({ executions }: Progress) => executions >= 80 && enough.abort()
    const { coverage } = await checkPaxos(
      { from: ['n1 proposes'], milliseconds: 60_000, signal: enough.signal, onProgress },
      of,
    )
    return coverage.deviations!.executed
  }
  const few = await inputsIn({ alone: unmarked })
  expect(few).toBeGreaterThan(0)
  expect(await inputsIn({ alone })).toBeGreaterThan(4 * few)
})

test('nodes that cannot begin alone are no error in auto', async () => {
  const together = { startTogether: async () => true }
  const { verdict, coverage, notes } = await checkPaxos({ milliseconds: 500 }, together)
  expect({ verdict, deviations: coverage.deviations, notes }).toEqual({ verdict: 'held', deviations: null, notes: [] })
  await expect(checkPaxos({ search: 'deviations', milliseconds: 500 }, together)).rejects.toThrow('wait for each other')
})

test('an error of nodes alone ends this search and not the check', async () => {
  const failing = {
    alone: () => ({ reset: () => Promise.reject(new Error('nobody answers')), enter: async () => undefined }),
  }
  const { verdict, notes } = await checkPaxos({ from: ['n1 proposes'], milliseconds: 1000 }, failing)
  expect({ verdict, notes }).toEqual({
    verdict: 'held',
    notes: ['the search by deviations was ended: nobody answers'],
  })
  await expect(checkPaxos({ search: 'deviations', milliseconds: 1000 }, failing)).rejects.toThrow('nobody answers')
})

test('a property that throws in a state that the system never comes to is no error', async () => {
  const handlers = paxos({ leaders: ['n1'] })
  const joined = new WeakSet<object>()
  const join = (nodes: readonly unknown[]) => {
    const state = { nodes: nodes as Whole<Member>['nodes'] }
    joined.add(state)
    return state
  }
  const property = always<Whole<Member>>(state => {
    if (joined.has(state) && state.nodes.some(({ chosen }) => chosen)) throw new TypeError('never so')
    return agreement.holds(state, undefined)
  })
  const nodes = { ...nodesOf(handlers), join }
  const options = { search: 'deviations', nodes, milliseconds: 5000 } as const
  const { verdict, notes } = await check(new HandlerSystem(handlers), { property }, options)
  expect(verdict).toBe('held')
  expect(notes.join()).toContain('that seemed possible for single nodes violated nothing in the whole system')
})

test('ways to states lead from where their node begins now', () => {
  const table = new Table(['n'])
  const sightOf = (fingerprint: string): NodeSight => ({ fingerprint, state: 0, sent: [], enabled: [], findings: [] })
  const first = table.begin(0, sightOf('first'))
  const [second, third] = [
    table.learn(first, { choice: 'a' }, sightOf('second')).to!,
    table.learn(first, { choice: 'b' }, sightOf('third')).to!,
  ]
  table.learn(second, { choice: 'c' }, sightOf('third'))
  expect(table.inputsTo(third)).toEqual([{ choice: 'b' }])
  expect(table.begin(0, sightOf('second'))).toBe(second)
  expect(table.get(second, { choice: 'c' })!.to).toBe(third)
  expect(table.inputsTo(third)).toEqual([{ choice: 'c' }])
})
