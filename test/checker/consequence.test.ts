import { expect, test } from 'vitest'
import { check } from '../../checker/check.ts'
import { always } from '../../checker/property.ts'
import { HandlerSystem, type Handlers, searchDepthFirst, type Whole } from './systems/handlers.ts'
import { agreement, paxos } from './systems/paxos.ts'

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

test('a chain of cause and effect is followed to its end in a small part of the states that there are', async () => {
  const handlers = chain(6)
  const isAtEnd = always(({ nodes }: Whole<{ hops: number }>) => nodes.at(-1)!.hops === 0)
  const verdict = await check(
    new HandlerSystem(handlers),
    { isAtEnd },
    {
      search: 'consequence',
      executions: 3_000,
      from: ['n1 begins'],
    },
  )
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'isAtEnd', repeated: true })
  expect(verdict.discovery?.by).toBe('consequence')
  expect(verdict.schedule).toEqual(['n1 begins', ...[2, 3, 4, 5, 6].map(n => `n${n - 1}→n${n} #1 go`)])
  expect(searchDepthFirst(handlers).states).toBe(28_672)
})

test('it ends by itself, and says what it met, where no consequence is left', async () => {
  const verdict = await check(
    new HandlerSystem(chain(3)),
    { agreement: always(() => true) },
    {
      search: 'consequence',
      milliseconds: 60_000,
    },
  )
  expect(verdict.verdict).toBe('held')
  const [consequence] = verdict.coverage.searches
  expect(consequence).toMatchInlineSnapshot(`
    {
      "executions": 34,
      "longest": 6,
      "name": "consequence",
      "states": 31,
      "steps": 111,
    }
  `)
})

test('two leaders that take the last promise choose two values, in the future of a state in which one value is chosen', async () => {
  const handlers = paxos({ leaders: ['n1', 'n2'], lastPromiseWins: true })
  const from = [
    ...['n1 proposes', 'n1→n1 #1 prepare 1', 'n1→n3 #1 prepare 1', 'n1→n1 #2 promise 1 - 0', 'n3→n1 #1 promise 1 - 0'],
    ...['n1→n1 #3 accept 1 value-of-n1', 'n1→n3 #2 accept 1 value-of-n1'],
    ...['n1→n1 #4 learn 1 value-of-n1', 'n3→n1 #2 learn 1 value-of-n1', 'n2 proposes', 'n2→n2 #1 prepare 2'],
    ...['n2→n3 #1 prepare 2', 'n3→n2 #2 promise 2 value-of-n1 1', 'n2→n2 #2 promise 2 - 0'],
  ]
  const verdict = await check(
    new HandlerSystem(handlers),
    { agreement },
    {
      search: 'consequence',
      executions: 5_000,
      from,
    },
  )
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'agreement' })
  expect(verdict.discovery?.by).toBe('consequence')
})
