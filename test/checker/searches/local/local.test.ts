import fc from 'fast-check'
import { expect, test } from 'vitest'
import { check } from '../../../../checker/check.ts'
import { always } from '../../../../checker/system/property.ts'
import { HandlerSystem, type Handlers, nodesOf, searchDepthFirst, type Whole } from '../../systems/handlers.ts'
import { type Machines, machineOf, machines } from '../../systems/machines.ts'
import { agreement, paxos } from '../../systems/paxos.ts'
import { searchAlone } from '../../systems/search-alone.ts'

const oneProposal = paxos({ leaders: ['n1'] })

test('the whole space of three Paxos nodes and one proposal takes a two-hundredth of the transitions of depth-first search', async () => {
  const depthFirst = searchDepthFirst(oneProposal)
  expect(depthFirst).toEqual({ transitions: 65_659, states: 13_143 })
  const { local } = await searchAlone(oneProposal, { properties: { agreement } })
  expect(local).toEqual({
    ...{ transitions: 329, executed: 329, localStates: 120, systemStates: 9, soundnessChecks: 0 },
    exhausted: true,
  })
  expect(depthFirst.transitions / local.transitions).toBeGreaterThan(132)
})

test('what an input does is remembered of states that look the same, whatever inputs led there', async () => {
  const handlers = paxos({ leaders: ['n1'] })
  const checkBy = async (abstraction: 'observed' | 'history') => {
    const nodes = { ...nodesOf(handlers), abstraction }
    const options = { search: 'local', nodes, executions: 200 } as const
    return (await check(new HandlerSystem(handlers), { agreement }, options)).coverage.local!
  }
  const { transitions, executed } = await checkBy('observed')
  expect(executed).toBeLessThan(transitions)
  const byHistory = await checkBy('history')
  expect(byHistory.executed).toBe(byHistory.transitions)
})

test('each state combined with each comes to the same by many more states of the system', async () => {
  const evaluationsMax = Number.POSITIVE_INFINITY
  const { local } = await searchAlone(oneProposal, { properties: { agreement }, combining: 'all', evaluationsMax })
  expect(local).toMatchObject({ transitions: 329, localStates: 120, soundnessChecks: 0, exhausted: true })
  expect(local.systemStates).toMatchInlineSnapshot(`22528`)
})

test('a projection that the property names combines as few states as what it is seen to read', async () => {
  const named = always(agreement.holds, { of: node => node.chosen })
  const { local } = await searchAlone(oneProposal, { properties: { agreement: named } })
  expect(local).toMatchObject({ transitions: 329, systemStates: 8, soundnessChecks: 0, exhausted: true })
})

test('two leaders that take the last promise choose two values; the order is executed on the whole system', async () => {
  const handlers = paxos({ leaders: ['n1', 'n2'], lastPromiseWins: true })
  const verdict = await check(
    new HandlerSystem(handlers),
    { agreement },
    {
      search: 'local',
      nodes: nodesOf(handlers),
      milliseconds: 60_000,
    },
  )
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'agreement', repeated: true })
  expect(verdict.discovery?.by).toBe('local')
})

test('two leaders of a correct build are not accused', async () => {
  const handlers = paxos({ leaders: ['n1', 'n2'] })
  const verdict = await check(
    new HandlerSystem(handlers),
    { agreement },
    {
      search: 'local',
      nodes: nodesOf(handlers),
      executions: 1_000,
    },
  )
  expect(verdict).toMatchObject({ verdict: 'held', notes: [] })
  expect(verdict.coverage.local?.transitions).toBeGreaterThan(900)
})

test('a node that ends is no violation where only an impossible message ends it', async () => {
  const verdict = await checkLocally({ ...pingPong, receive: receiving({ whenPongBeforePing: 'crash' }) })
  expect(verdict).toMatchObject({ verdict: 'held' })
})

test('a node that ends by what it may be sent is a violation', async () => {
  const verdict = await checkLocally({ ...pingPong, receive: receiving({ whenPongAfterPing: 'crash' }) })
  expect(verdict).toMatchObject({ verdict: 'violated', kind: 'crash', repeated: true })
})

test('the search begins after the steps that are given', async () => {
  const handlers = paxos({ leaders: ['n1', 'n2'], lastPromiseWins: true })
  const from = ['n1 proposes', 'n1→n1 #1 prepare 1', 'n1→n2 #1 prepare 1', 'n2 proposes']
  const verdict = await check(
    new HandlerSystem(handlers),
    { agreement },
    {
      search: 'local',
      nodes: nodesOf(handlers),
      milliseconds: 60_000,
      from,
    },
  )
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'agreement', repeated: true })
})

test('a system whose nodes cannot be executed alone is refused', async () => {
  await expect(check(new HandlerSystem(oneProposal), { agreement }, { search: 'local' })).rejects.toThrow(
    'search: `local` executes each node alone, which this system cannot do',
  )
})

test('whatever depth-first search finds in small systems a local search finds, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(machines, async handlers => {
      const bad = (states: readonly number[]) => states[0] === 2 && states[1] === 2
      let isReached = false
      searchDepthFirst(handlers, states => (isReached ||= bad(states)))
      const never = always<Whole<number>>(({ nodes }) => !bad(nodes))
      const verdict = await check(
        new HandlerSystem(handlers),
        { never },
        {
          search: 'local',
          nodes: nodesOf(handlers),
          milliseconds: 60_000,
        },
      )
      // Where no node can do anything, nothing was executed.
      const isEmpty = verdict.coverage.local?.transitions === 0
      expect(verdict.verdict).toBe(isReached ? 'violated' : isEmpty ? 'undetermined' : 'held')
      if (!isReached) expect(verdict.coverage.local?.exhausted).toBe(true)
    }),
    { numRuns: 80 },
  )
})

test('a way that is found later to a state that was known has others combined with it again', async () => {
  const none = { up: 0, sends: null }
  const steps: Machines['steps'][number][] = Array.from({ length: 18 }, () => none)
  // n1 in state 1 goes on by message 1, n2 by message 0 from either of its states: only one of these has sent message 1.
  for (const [at, up] of [
    [4, 1],
    [9, 2],
    [12, 1],
  ] as const)
    steps[at] = { up, sends: null }
  const handlers = machineOf({ own: [0, null, null, 1, null, null], steps })
  const never = always<Whole<number>>(({ nodes }) => !(nodes[0] === 2 && nodes[1] === 2))
  expect(
    (await check(new HandlerSystem(handlers), { never }, { search: 'local', nodes: nodesOf(handlers) })).verdict,
  ).toBe('violated')
})

// Two nodes that ask and answer once.

type Talk = 'idle' | 'asked' | 'answered'
type Ends = { readonly whenPongBeforePing?: 'crash'; readonly whenPongAfterPing?: 'crash' }

const crash = (node: string) => [{ kind: 'crash' as const, node, message: 'ended' }]

const receiving =
  ({ whenPongBeforePing, whenPongAfterPing }: Ends): Handlers<Talk>['receive'] =>
  (state, { from, text }, name) => {
    if (text === 'ping') return { state, sent: [{ to: from, text: 'pong' }] }
    const ends = state === 'idle' ? whenPongBeforePing : whenPongAfterPing
    return { state: 'answered', findings: ends ? crash(name) : [] }
  }

const pingPong: Omit<Handlers<Talk>, 'receive'> = {
  names: ['n1', 'n2'],
  initial: () => ({ state: 'idle' }),
  own: (state, name) =>
    name === 'n1' && state === 'idle'
      ? [{ label: 'n1 asks', next: () => ({ state: 'asked', sent: [{ to: 'n2', text: 'ping' }] }) }]
      : [],
}

const checkLocally = (handlers: Handlers<Talk>) =>
  check(new HandlerSystem(handlers), {}, { search: 'local', nodes: nodesOf(handlers), executions: 200 })
