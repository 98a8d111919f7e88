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

/** Of a room, the pairs of things in it, each a room or a file, of which one imports the other. */
const arrowsIn = (room: string): string[] => {
  const thingIn = (path: string) => path.slice(room.length + 1).split('/')[0]!
  const inside = (path: string) => path.startsWith(`${room}/`)
  const arrows = files.filter(inside).flatMap(path =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)]
      .map(([, specifier]) => join(dirname(path), specifier!))
      .filter(target => inside(target) && thingIn(target) !== thingIn(path))
      .map(target => `${thingIn(path)} → ${thingIn(target)}`),
  )
  return [...new Set(arrows)]
}

test.each([
  ['checker', 30],
  ['harness/hold', 60],
  ['cli', 80],
])('what is in %s has at most %i arrows', (room, most) => {
  const arrows = arrowsIn(room)
  expect(arrows.length).toBeGreaterThan(20)
  expect(arrows.length, arrows.join(', ')).toBeLessThanOrEqual(most)
})

test('no room has more files than a reader can survey', () => {
  const counts = new Map<string, number>()
  for (const path of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  expect([...counts].filter(([, count]) => count > 32)).toEqual([])
})

/** What users import from the package under its own name, or as `frames.grpc`: rooms that they see give it once more. */
const offeredAgain = ['always', 'check', 'eventually', 'grpc', 'history', 'jsonLines', 'mqtt', 'postgres', 'sometimes']

test('an exported name means one thing', () => {
  const declared = /^export (?:async )?(?:const|class|interface|type|function) (\w+)/gm
  const places = new Map<string, string[]>()
  for (const path of files)
    for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(declared))
      places.set(name!, [...(places.get(name!) ?? []), path])
  expect(places.size).toBeGreaterThan(1000)
  const several = [...places].filter(([name, at]) => at.length > 1 && !offeredAgain.includes(name))
  expect(several).toEqual([])
})
