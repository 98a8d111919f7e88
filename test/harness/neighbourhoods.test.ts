import { expect, test } from 'vitest'
import { Neighbourhoods } from '../../harness/steering/neighbourhoods.ts'

const names = Array.from({ length: 9 }, (_, index) => `n${index + 1}`)

test('each node has its turn, with those that it is connected to, and that it heard from since', () => {
  const neighbourhoods = new Neighbourhoods(names)
  const connected = [
    ['n3', 'n1'],
    ['n1', 'n4'],
    ['n5', 'n6'],
  ] as const
  const sent = new Map([
    ['n7→n1', 4],
    ['n8→n1', 1],
  ])
  expect(neighbourhoods.next({ connected, sent })).toEqual(new Set(['n1', 'n3', 'n4']))
  expect(neighbourhoods.next({ connected, sent })).toEqual(new Set(['n2']))
  for (let turn = 3; turn <= 9; turn++) neighbourhoods.next({ connected, sent })
  const later = new Map([...sent, ['n7→n1', 5]] as const)
  expect(neighbourhoods.next({ connected: [], sent: later })).toEqual(new Set(['n1', 'n7']))
})

test('a small system is looked at as a whole', () => {
  expect(new Neighbourhoods(names.slice(0, 8)).next({ connected: [], sent: new Map() })).toBeUndefined()
})
