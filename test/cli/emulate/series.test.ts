import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { PrintedLines } from '../../../cli/emulate/printed-lines.ts'
import { MeasuredLines } from '../../../cli/emulate/series.ts'
import { copyOfFixtures, here } from '../lastnail.ts'

test('lines are those that end in what was printed, also in the middle of a character', () => {
  const lines = new PrintedLines()
  const euro = Buffer.from('1 €\n2')
  const print = (bytes: Uint8Array, atMs: number) => lines.take([{ node: 'a', stream: 'stdout', bytes }], atMs)
  expect(print(euro.subarray(0, 3), 10)).toEqual([])
  expect(lines.take([{ node: 'b', stream: 'stdout', bytes: Buffer.from('b\n') }], 15)).toEqual([
    { atMs: 15, node: 'b', stream: 'stdout', line: 'b' },
  ])
  expect(print(euro.subarray(3), 20)).toEqual([{ atMs: 20, node: 'a', stream: 'stdout', line: '1 €' }])
  expect(print(Buffer.from('\n\n'), 30).map(({ line }) => line)).toEqual(['2', ''])
})

test('a series has a row for each line that its pattern finds, numbers as numbers', () => {
  const measured = new MeasuredLines({ lookup: /lookup (?<ms>\d+) ms (?<result>\w+)/g, other: /(\d)(x)?/ })
  for (const line of ['lookup 12 ms ok', 'nothing', 'lookup 7 ms fail'])
    measured.see([{ atMs: 1500, node: 'a', stream: 'stdout', line }])
  expect(measured.series).toEqual({
    lookup: [
      { s: 1.5, node: 'a', ms: 12, result: 'ok' },
      { s: 1.5, node: 'a', ms: 7, result: 'fail' },
    ],
    other: [
      { s: 1.5, node: 'a', value1: 1, value2: null },
      { s: 1.5, node: 'a', value1: 7, value2: null },
    ],
  })
})

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({
    'prints.js': `
      let count = 0
      setInterval(() => console.log(JSON.stringify({ ticks: ++count, note: 'a "b", c' })), 1000)`,
    'series.config.ts': `
      import { defineSystem, jsonLines, always } from 'lastnail'
      export default defineSystem({
        name: 'series',
        nodes: { a: { command: ['node', 'prints.js'] } },
        state: jsonLines('stdout'),
        properties: { small: always(state => state.nodes.every(node => (node.state?.ticks ?? 0) < 100)) },
        emulation: { for: '4500ms', measure: { ticks: /"ticks":(?<ticks>\\d+),"note":"(?<note>.*)"/ } },
      })`,
  })
  directory = copy.directory
  return copy.remove
})

test.each(['virtual', 'native'])(
  'a run at the pace %s has its series as CSV and JSON, and lines with their times',
  async pace => {
    const { stdout, stderr, code } = await here(
      directory,
      'emulate',
      'series.config.ts',
      '--series',
      '--json',
      '--pace',
      pace,
    )
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const { series } = JSON.parse(stdout.trim().split('\n').at(-1)!)
    const place = join(directory, dirname(series))
    const all = JSON.parse(readFileSync(join(directory, series), 'utf8'))
    expect(all.ticks.slice(0, 2)).toMatchObject([
      { node: 'a', ticks: 1, note: 'a \\"b\\", c' },
      { node: 'a', ticks: 2 },
    ])
    expect(all.looks.length).toBeGreaterThan(2)
    const [header, first] = readFileSync(join(place, 'series', 'ticks.csv'), 'utf8').split('\n')
    expect(header).toBe('s,node,ticks,note')
    expect(first).toMatch(/^[\d.]+,a,1,"a \\""b\\"", c"$/)
    const [line] = readFileSync(join(place, 'output', 'a.jsonl'), 'utf8').split('\n')
    expect(JSON.parse(line!)).toMatchObject({ stream: 'stdout', line: '{"ticks":1,"note":"a \\"b\\", c"}' })
    if (pace === 'virtual') expect(all.ticks.map(({ s }: { s: number }) => Math.floor(s))).toEqual([1, 2, 3, 4])
  },
)
