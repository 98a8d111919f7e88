import { expect, test } from 'vitest'
import { cutsBy } from '../../../../checker/happening/ways.ts'
import { readLabel } from '../../../../checker/system/labels.ts'
import { commandRoleOf, partitionsAmong } from '../../../../harness/execution/choices/partitions.ts'

const among = (...names: string[]) => partitionsAmong(names.map(name => ({ name, role: 'server' })))
const labels = (...names: string[]) => among(...names).map(({ label }) => label)

test('two nodes are cut off from each other, or one from the other', () => {
  expect(labels('a', 'b')).toEqual(['partition a | b', 'partition b | a', 'cut a→b', 'cut b→a'])
})

test('of three, one is alone, or two are that the third joins, or one hears or says nothing', () => {
  expect(labels('a', 'b', 'c')).toEqual([
    ...['partition a | b c', 'partition b | a c', 'partition c | a b'],
    ...['cut a→b', 'cut a→c', 'cut b→a', 'cut b→c', 'cut c→a', 'cut c→b'],
    ...['partition a | b', 'partition a | c', 'partition b | c'],
    ...['cut a→b c', 'cut b c→a', 'cut b→a c', 'cut a c→b', 'cut c→a b', 'cut a b→c'],
  ])
})

test('four are cut in two halves too, three ways', () => {
  expect(labels('a', 'b', 'c', 'd').filter(label => /^partition \S+ \S+ \|/.test(label))).toEqual([
    'partition a b | c d',
    'partition a c | b d',
    'partition a d | b c',
  ])
  expect(among('a', 'b', 'c', 'd').find(({ label }) => label === 'cut c d→a b')?.ways).toEqual([
    ['c', 'a'],
    ['c', 'b'],
    ['d', 'a'],
    ['d', 'b'],
  ])
})

test('every split of five, each once; of many, by their roles', () => {
  const splits = (partitions: ReturnType<typeof among>) =>
    partitions.filter(({ label, nodes }) => label.startsWith('partition') && nodes.length > 1)
  expect(splits(among('a', 'b', 'c', 'd', 'e'))).toHaveLength(10)
  const many = [...'abcdef'].map(name => ({ name, role: 'server' }))
  expect(splits(partitionsAmong(many)).map(({ nodes }) => nodes.join(''))).toEqual(['ab', 'abc'])
  const roles = [...'abc'].map(name => ({ name, role: 'server' }))
  const clients = [...'xyz'].map(name => ({ name, role: 'client' }))
  expect(splits(partitionsAmong([...roles, ...clients])).map(({ nodes }) => nodes.join(''))).toEqual([
    'xy',
    'ax',
    'axy',
    'ab',
    'abx',
    'abc',
  ])
})

test('no two are the same but for those of two nodes, and labels tell what they cut', () => {
  const all = among('a', 'b', 'c', 'd', 'e')
  const cuts = all.map(({ ways }) => JSON.stringify(ways.map(way => way.join('→')).sort()))
  expect(new Set(cuts).size).toBe(all.length)
  for (const { label } of all) {
    expect(readLabel(label).kind).toBe('partition')
    expect(cutsBy(label)).toEqual([label])
  }
})

test('a role is a command without names and numbers', () => {
  const of = (...command: string[]) => commandRoleOf(command, ['n1', 'n2', 'queue'])
  expect(of('node', 'server.js', 'n1', '7001')).toBe(of('node', 'server.js', 'n2', '7002'))
  expect(of('node', 'server.js', 'n1')).not.toBe(of('node', 'worker.js', 'n1'))
})
