import { expect, test } from 'vitest'
import { always, sometimes } from '../../../checker/system/property.ts'
import { type Subject, Subjects, subjectsOf } from '../../../checker/system/subjects.ts'

/** What a predicate was seen to look for in these states. */
const look = <State>(holds: (state: State) => boolean, ...states: readonly State[]): Subject[] => {
  const subjects = new Subjects('p', always<State>(holds))
  for (const state of states) subjects.see(state)
  return subjectsOf('p', subjects.sights())
}

interface Node {
  readonly log?: readonly { readonly ok: boolean }[]
  readonly seen?: ReadonlyMap<string, number>
}
const state = (...nodes: Node[]) => ({ nodes, node: (index: number) => nodes[index] })
const allOk = ({ nodes }: ReturnType<typeof state>) => nodes.every(node => node.log?.every(({ ok }) => ok) ?? true)

test('a list that is empty in every state, and one that is not in some', () => {
  expect(look(allOk, state({ log: [] }), state({}, { log: [] }))).toContainEqual({
    ...{ path: 'nodes[].log', found: 0, missed: 2, atEnd: 0, was: 'empty' },
  })
  const found = look(allOk, state({ log: [] }), state({ log: [] }, { log: [{ ok: true }] }))
  expect(found).toContainEqual(expect.objectContaining({ path: 'nodes[].log', found: 1 }))
  expect(found).toContainEqual(expect.objectContaining({ path: 'nodes[].log[].ok', found: 1 }))
})

test('what is read through a method counts as well, and what is no plain data is read as it is', () => {
  const seen = new Map([['a', 1]])
  const found = look(s => s.node(0)?.seen?.get('a') === 1 && s.node(0)?.log === undefined, state({ seen }))
  expect(found.map(({ path, found }) => [path, found])).toEqual([
    ['node().seen', 1],
    ['node().log', 0],
  ])
})

test('a predicate that cannot read watched states is left alone', () => {
  expect(look(s => structuredClone(s.nodes).length > 0, state({ log: [] }))).toEqual([
    expect.objectContaining({ path: 'nodes', found: 1 }),
  ])
  expect(look(s => s.nodes[0]!.log!.length === 0, Object.freeze(state({})))).toEqual([])
})

test('a property that names what it reads is not evaluated to find that out', () => {
  const subjects = new Subjects('p', {
    ...always<{ readonly history: readonly number[] }>(() => {
      throw new Error('evaluated')
    }),
    about: ({ history }) => history.length,
  })
  subjects.see({ history: [] })
  expect(subjectsOf('p', subjects.sights())).toEqual([{ path: '', found: 0, missed: 1, atEnd: 0, was: 'empty' }])
  subjects.see({ history: [1] })
  expect(subjectsOf('p', subjects.sights())).toEqual([{ path: '', found: 1, missed: 0, atEnd: 0, was: 'nothing' }])
})

test('what was there at the end of executions is counted alike by a new process and by one that has executed much', () => {
  const [without, withEntry] = [state({ log: [] }), state({ log: [{ ok: true }] })]
  const atEnd = (subjects: Subjects<typeof without>, last: typeof without) =>
    subjectsOf('p', [...subjects.sightsAtEnd(last), ...subjects.sights()]).find(({ path }) => path === 'nodes[].log')
  const used = new Subjects('p', always(allOk))
  for (let count = 0; count < 100; count++) used.see(withEntry)
  used.sights()
  for (const subjects of [used, new Subjects('p', always(allOk))]) {
    expect(atEnd(subjects, withEntry)).toMatchObject({ atEnd: 1 })
    expect(atEnd(subjects, without)?.atEnd ?? 0).toBe(0)
  }
})

test('sometimes is a kind of property of its own', () => {
  expect(sometimes(() => true)).toMatchObject({ kind: 'sometimes' })
})
