import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
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

const star = {
  nodes: [{ id: 'hub', role: 'transit' }, ...['a', 'b'].map(id => ({ id, role: 'client' }))],
  links: [
    { from: 'hub', to: 'a', class: 'client-stub', delayMs: 5, bandwidth: 2e6 },
    { from: 'hub', to: 'b', class: 'client-stub', delayMs: 5, bandwidth: 4e6 },
  ],
}
/** With the headers of UDP and IP it sends 1,000 bytes 125 times a second: 1 Mbit/s. */
const sends = `
const socket = require('node:dgram').createSocket('udp4')
socket.bind(7000)
let count = 0
const begun = performance.now()
if (process.argv[2]) setInterval(() => {
  for (; count * 8 < performance.now() - begun; count++) socket.send(Buffer.alloc(972), 7000, process.argv[2])
}, 40)
`
const loadConfig = `
import { defineSystem } from 'lastnail'
export default defineSystem({
  name: 'loads',
  nodes: { a: { command: ['node', 'sends.cjs', '{{b.address}}'] }, b: { command: ['node', 'sends.cjs'] } },
  emulation: { topology: 'star.json', for: '4s' },
})`

test.each(['virtual', 'native'])('at the pace %s, the load of each link is known by looks', async pace => {
  const { directory, remove } = copyOfFixtures({
    ...{ 'loads.config.ts': loadConfig, 'sends.cjs': sends, 'star.json': JSON.stringify(star) },
  })
  onTestFinished(remove)
  const { code, stdout } = await here(directory, 'emulate', 'loads.config.ts', '--series', '--pace', pace, '--json')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  const { series, plot } = JSON.parse(stdout.trim().split('\n').at(-1)!)
  const { loads } = JSON.parse(readFileSync(join(directory, series), 'utf8'))
  const of = (link: string) => loads.filter((row: { link: string }) => row.link === link)
  expect([...new Set(loads.map((row: { link: string }) => row.link))].sort()).toEqual(['a→hub', 'hub→b'])
  // The first look sees the start of the programs too, and a busy machine sends late.
  for (const [link, load] of [
    ['a→hub', 0.5],
    ['hub→b', 0.25],
  ] as const) {
    const rows = of(link).slice(1, 3)
    expect(rows).toHaveLength(2)
    for (const row of rows) {
      expect(row.bytes % 1000).toBe(0)
      expect(row.load).toBeGreaterThan(load / 2)
      expect(row.load).toBeLessThan(load * 2)
    }
  }
  expect(readFileSync(join(directory, plot), 'utf8')).toContain('load of the busiest links, per cent: a→hub, hub→b')
  await here(directory, 'plot', dirname(series), '--out', 'all.svg')
  expect(readFileSync(join(directory, 'all.svg'), 'utf8')).toContain('per cent of the bandwidth of a link')
})
