import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const tops = ['campaign', 'checker', 'cli', 'docker', 'harness', 'linux', 'proxy', 'report', 'topologies']
const files = tops.flatMap(top =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => join(top, name)),
)

/** By room, the rooms from which it imports, each with one import as an example. */
const importsByRoom = (): Map<string, Map<string, string>> => {
  const rooms = new Map(files.map(path => [dirname(path), new Map<string, string>()]))
  for (const path of files) {
    const room = dirname(path)
    for (const [, specifier] of readFileSync(join(root, path), 'utf8').matchAll(/from '(\.[^']+)'/g)) {
      const target = join(room, specifier!)
      if (dirname(target) !== room) rooms.get(room)!.set(dirname(target), `${path} imports ${target}`)
    }
  }
  return rooms
}

test('no two rooms import each other', () => {
  const rooms = importsByRoom()
  expect(rooms.size).toBeGreaterThan(40)
  const pairs = [...rooms].flatMap(([room, others]) =>
    [...others].flatMap(([other, example]) => (rooms.get(other)?.has(room) ? [example] : [])),
  )
  expect(pairs).toEqual([])
})

test('no room has more files than a reader can survey', () => {
  const counts = new Map<string, number>()
  for (const path of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  expect([...counts].filter(([, count]) => count > 36)).toEqual([])
})
