import { expect, test } from 'vitest'
import { Solo } from '../../../../checker/cells/alone.ts'
import { check } from '../../../../checker/check.ts'
import { predict } from '../../../../checker/searches/deviations/predict.ts'
import { Table } from '../../../../checker/searches/local/table.ts'
import { Budget } from '../../../../checker/system/budget.ts'
import { always, type Property } from '../../../../checker/system/property.ts'
import { HandlerSystem, type Handlers, nodesOf, searchDepthFirst, type Whole } from '../../systems/handlers.ts'
import { agreement, paxos } from '../../systems/paxos.ts'

/** A chain of nodes: each step of one makes the next take one; and each may idle, which changes nothing that others see. */
const chain = (size: number): Handlers<{ hops: number; idled: number }> => {
  const names = Array.from({ length: size }, (_, i) => `n${i + 1}`)
  return {
    names,
    initial: () => ({ state: { hops: 0, idled: 0 } }),
    own: (state, name) => [
      ...(name === 'n1' && state.hops === 0
        ? [{ label: 'n1 begins', next: () => ({ state: { ...state, hops: 1 }, sent: [{ to: 'n2', text: 'go' }] }) }]
        : []),
      ...(state.idled < 3
        ? [{ label: `${name} idles ${state.idled}`, next: () => ({ state: { ...state, idled: state.idled + 1 } }) }]
        : []),
    ],
    receive: (state, { text }, name) => {
      const next = names[names.indexOf(name) + 1]
      return { state: { ...state, hops: state.hops + 1 }, sent: next ? [{ to: next, text }] : [] }
    },
  }
}

/** What consequence prediction comes to after so many inputs of nodes, from a state. */
const predictFrom = <Local>(handlers: Handlers<Local>, after: string[], property: Property<Whole<Local>>) => {
  const nodes = nodesOf(handlers)
  return predict({
    ...{ nodes, properties: { property }, table: new Table(nodes.names), solo: new Solo(nodes), order: 'consequence' },
    ...{ begin: { after, variant: 0 }, inputsMax: 1_000, budget: new Budget({}) },
  })
}

test('a chain of cause and effect is followed to its end in a small part of the states that there are', async () => {
  const handlers = chain(6)
  const isAtEnd = always(({ nodes }: Whole<{ hops: number; idled: number }>) => nodes.at(-1)!.hops === 0)
  const { suspicions, states } = await predictFrom(handlers, ['n1 begins'], isAtEnd)
  expect(suspicions.map(({ labels }) => labels)).toEqual([[2, 3, 4, 5, 6].map(n => `n${n - 1}→n${n} #1 go`)])
  expect(states).toBeLessThan(1_000)
  expect(searchDepthFirst(handlers).states).toBe(28_672)
})

test('it ends by itself, and says what it met, where no consequence is left', async () => {
  const handlers = chain(3)
  const { verdict, message, coverage } = await check(
    new HandlerSystem(handlers),
    { agreement: always<Whole<{ hops: number; idled: number }>>(() => true) },
    {
      search: 'consequence',
      nodes: nodesOf(handlers),
      milliseconds: 60_000,
    },
  )
  expect(verdict).toBe('held')
  expect(coverage.consequence).toMatchInlineSnapshot(`
    {
      "depth": 6,
      "executed": 24,
      "exhausted": true,
      "localStates": 24,
      "states": 31,
      "transitions": 33,
    }
  `)
  expect(message).toContain('with no consequence left')
})

test('two leaders that take the last promise choose two values, in the future of a state in which one value is chosen', async () => {
  const from = [
    ...['n1 proposes', 'n1→n1 #1 prepare 1', 'n1→n3 #1 prepare 1', 'n1→n1 #2 promise 1 - 0', 'n3→n1 #1 promise 1 - 0'],
    ...['n1→n1 #3 accept 1 value-of-n1', 'n1→n3 #2 accept 1 value-of-n1'],
    ...['n1→n1 #4 learn 1 value-of-n1', 'n3→n1 #2 learn 1 value-of-n1', 'n2 proposes', 'n2→n2 #1 prepare 2'],
    ...['n2→n3 #1 prepare 2', 'n3→n2 #2 promise 2 value-of-n1 1', 'n2→n2 #2 promise 2 - 0'],
  ]
  const { suspicions } = await predictFrom(paxos({ leaders: ['n1', 'n2'], lastPromiseWins: true }), from, agreement)
  expect(suspicions).toMatchObject([{ kind: 'violation', what: 'property' }])
})

test('what it finds is executed on the whole system', async () => {
  // The second of two messages overtakes the first.
  const handlers: Handlers<string> = {
    names: ['n1', 'n2'],
    initial: () => ({ state: '' }),
    own: (state, name) =>
      name === 'n1' && state === ''
        ? [{ label: 'n1 begins', next: () => ({ state: 'begun', sent: ['a', 'b'].map(text => ({ to: 'n2', text })) }) }]
        : [],
    receive: (state, { text }) => ({ state: state + text }),
  }
  const inOrder = always<Whole<string>>(({ nodes }) => !nodes[1]!.startsWith('b'))
  const options = { search: 'consequence', nodes: nodesOf(handlers), milliseconds: 60_000 } as const
  const verdict = await check(new HandlerSystem(handlers), { inOrder }, options)
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'inOrder', repeated: true })
  expect(verdict.discovery?.by).toBe('consequence')
})
