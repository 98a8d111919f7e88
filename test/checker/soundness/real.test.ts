import { describe, expect, it } from 'vitest'
import { check } from '../../../checker/check.ts'
import { BoundedSearch } from '../../../checker/searches/bounded.ts'
import { always, eventually, type Property } from '../../../checker/system/property.ts'
import { startAfter } from '../../../checker/system/start.ts'
import { type GlobalState, jsonLines, type SystemDefinition } from '../../../harness/config/config.ts'
import { clusterOf } from '../../harness/system.ts'
import { cellsOf } from '../systems/cells-of.ts'

interface RealCase {
  readonly name: string
  readonly definition: (isCorrect: boolean) => Omit<SystemDefinition, 'name'>
  readonly files: Readonly<Record<string, string>>
  readonly good: Property<GlobalState>
}

const state = jsonLines('stdout')
const node = (file: string, isCorrect: boolean, ...args: readonly string[]) => ({
  command: ['node', file, ...args],
  env: isCorrect ? { CORRECT: 'yes' } : {},
})

const cases: readonly [RealCase, ...RealCase[]] = [
  {
    name: 'a counter that a process shows only when it is full',
    definition: isCorrect => ({ nodes: { n: node('counts.js', isCorrect) }, state }),
    files: {
      'counts.js': `let count = 0
setInterval(() => {
  count = process.env.CORRECT ? (count + 1) % 2 : count + 1
  console.log(JSON.stringify({ odd: count % 2, over: count === 6 }))
}, 10)`,
    },
    good: always(({ nodes }) => !nodes.some(({ state }) => state?.over)),
  },
  {
    name: 'a process that is killed between two writes to its disk',
    definition: isCorrect => ({ nodes: { n: node('writes.js', isCorrect) }, state, faults: { reset: 1 } }),
    files: {
      'writes.js': `const { existsSync, writeFileSync } = require('fs')
const isTorn = existsSync('first') !== existsSync('second')
console.log(JSON.stringify({ isTorn }))
setTimeout(() => {
  writeFileSync('first', '')
  if (process.env.CORRECT) writeFileSync('second', '')
  setTimeout(() => writeFileSync('second', ''), 10)
}, 10)`,
    },
    good: always(({ nodes }) => !nodes.some(({ state }) => state?.isTorn)),
  },
  {
    name: 'three datagrams, of which no cut alone loses all',
    definition: isCorrect => ({
      nodes: {
        a: node('says.js', isCorrect, '{{b.address}}'),
        b: node('says.js', isCorrect, '{{c.address}}'),
        c: node('says.js', isCorrect, '{{a.address}}'),
      },
      state,
      faults: { partition: 2 },
      overlap: 0,
    }),
    files: {
      'says.js': `const socket = require('dgram').createSocket('udp4')
socket.on('message', () => console.log(JSON.stringify({ heard: true })))
const say = () => socket.send('hello', 4000, process.argv[2])
socket.bind(4000, () => {
  say()
  if (process.env.CORRECT) setInterval(say, 10)
})`,
    },
    good: eventually(({ nodes }) => nodes.some(({ state }) => state?.heard)),
  },
]

describe.each(cases)('real processes: $name', ({ name, definition, files, good }) => {
  const checkOnce = (isCorrect: boolean, search: 'auto' | 'bounded') =>
    check(clusterOf(definition(isCorrect), files), { good }, { search, executions: isCorrect ? 100 : 1_000 })

  it.each(['auto', 'bounded'] as const)(`the mistake of ${name} is found (%s)`, async search => {
    const { verdict, property } = await checkOnce(false, search)
    expect({ verdict, property }).toEqual({ verdict: 'violated', property: 'good' })
  })

  it(`the mistake of ${name} is not said of its correct twin`, async () => {
    const { verdict } = await checkOnce(true, 'auto')
    expect(verdict).toBe('held')
  })
})

it('hidden state of a process is reported: which node, and what differed', async () => {
  const [{ definition, files }] = cases
  const { verdict, notes, coverage } = await check(
    clusterOf(definition(false), files),
    {},
    { search: 'bounded', executions: 40 },
  )
  expect(verdict).toBe('held')
  expect(notes).toEqual([
    expect.stringMatching(
      /^some states that look alike are not the same: .* and state of n differed after \d+ more steps? \(n timer \+10ms\)\. From now on states are told apart by the inputs that each node took/,
    ),
  ])
  expect(coverage).toMatchObject({ exhausted: false, pruned: 0 })
})

describe('the fingerprint of real processes', () => {
  const pass = `const socket = require('dgram').createSocket('udp4')
let sum = 0
socket.on('message', bytes => {
  sum = 2 * sum + Number(bytes)
  console.log(JSON.stringify({ sum }))
  if (sum < 3) socket.send('1', 4000, process.argv[2])
})
socket.bind(4000)
socket.send('1', 4000, process.argv[2])
socket.send('2', 4000, process.argv[2])`
  const definition = {
    nodes: {
      a: { command: ['node', 'pass.js', '{{b.address}}'] },
      b: { command: ['node', 'pass.js', '{{a.address}}'] },
    },
    state,
    faults: { partition: 1 },
    overlap: 0,
  }

  /** By depth, what the nodes showed after any schedule. */
  const shown = async (options: ConstructorParameters<typeof BoundedSearch>[0]) => {
    const cluster = clusterOf(definition, { 'pass.js': pass })
    const cells = cellsOf(cluster, {})
    const search = new BoundedSearch({ ...options, depthMax: 3 })
    const seen = new Set<string>()
    for (let prefix = search.next(); prefix !== undefined; prefix = search.next()) {
      const outcome = await cells.run({ start: startAfter(prefix.labels) })
      seen.add(`${prefix.depth} ${JSON.stringify(cluster.state().nodes.map(({ state }) => state))}`)
      search.arrive(prefix, outcome)
    }
    return { seen: [...seen].toSorted(), executions: cells.counts.executions }
  }

  it('leaves out executions but no observable state, by observed states and by histories of inputs', async () => {
    const all = await shown({ by: 'nothing', everyOrder: true })
    for (const by of ['fingerprint', 'history', 'nothing'] as const) {
      const reduced = await shown({ by })
      expect(reduced.seen).toEqual(all.seen)
      expect(reduced.executions).toBeLessThan(all.executions)
    }
  })
})
