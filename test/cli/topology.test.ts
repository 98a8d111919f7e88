import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, here as lastnail } from './lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

const run = (...args: readonly string[]) => lastnail(directory, 'topology', ...args)
const content = (name: string) => readFileSync(join(directory, name), 'utf8')
const lastLine = (stdout: string) => JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1))

test('an internet of 5,000 nodes: summary, file and picture, with the mean round trip that is asked for', async () => {
  const { code, stdout } = await run('inet', '--seed', '1', '--mean-rtt', '130', '--out', 't.json', '--svg', 't.svg')
  expect(code).toBe(0)
  expect(stdout.split('\n')).toEqual([
    'inet of 5000 nodes, seed 1: 5000 nodes (3078 transit, 1922 stub), 8690 links',
    'degree: 3.48 in the mean, 1025 at most, 38.4 % have one link',
    expect.stringMatching(/^ {2}degree ~ rank\^-0\.\d+, correlation -[01]\.\d+$/),
    expect.stringMatching(/^ {2}P\(degree > d\) ~ d\^-1\.\d+, correlation -[01]\.\d+$/),
    expect.stringMatching(/^routes between 100 ends: \d+\.\d+ links in the mean, \d+ at most$/),
    expect.stringMatching(/^round trip: 130\.0 ms in the mean, from \d+\.\d to \d+\.\d ms$/),
    'written: t.json',
    'written: t.svg',
  ])
  expect(JSON.parse(content('t.json')).links[0]).toMatchObject({ bandwidth: 100e6, class: 'transit-transit' })
  expect(content('t.svg')).toMatch(/^<svg /)
})

test('a file goes from each format to the next, and means the same', async () => {
  await run('transit-stub', '--nodes', '40', '--cross', '0.3', '--out', '0.json')
  const { links } = JSON.parse(content('0.json'))
  for (const { bandwidth, cross } of links) expect(cross).toEqual({ bandwidth: 0.3 * bandwidth })
  const summaries = []
  for (const [from, to] of [
    ['0.json', '1.graphml'],
    ['1.graphml', '2.gml'],
    ['2.gml', '3.json'],
  ] as const) {
    const { code, stdout } = await run('convert', from, '--out', to, '--json')
    expect(code).toBe(0)
    const { out, ...summary } = lastLine(stdout)
    expect(out).toBe(to)
    expect(content(to)).toMatch(/cross/)
    summaries.push(
      JSON.stringify(summary, (_, value) => (typeof value === 'number' ? Number(value.toFixed(4)) : value)),
    )
  }
  expect(new Set(summaries).size).toBe(1)
})

test('wrong usage and wrong files are refused with one line and 64', async () => {
  const refusal = (line: string) => ({ code: 64, stdout: '', stderr: `lastnail: ${line}` })
  expect(await run('inet', '--nodes', '10')).toEqual(refusal('nodes: expected from 100 to 20000 for inet, found 10'))
  expect(await run('mash')).toEqual(refusal("unknown command 'mash'\n(Did you mean mesh?)"))
  expect(await run('mesh', '--mean-rtt', '0')).toEqual(
    refusal("option '--mean-rtt <ms>' argument '0' is invalid. expected a number above zero."),
  )
  expect(await run('mesh', '--out', 't.dot')).toEqual(
    refusal('t.dot: expected a file that ends in .json, .graphml, .gml, .inet'),
  )
  expect(await run('convert', 'absent.gml')).toEqual(refusal('cannot read absent.gml: no such file or directory'))
  writeFileSync(join(directory, 'islands.inet'), '4 2\n0 0 0\n1 1 1\n2 2 2\n3 3 3\n0 1 5\n2 3 5\n')
  expect(await run('convert', 'islands.inet')).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(
      /^lastnail: there is no way from "\d" to "\d": the graph is in 2 parts, of 2, 2 nodes; .* keeps the largest$/,
    ),
  })
  expect(await run('convert', 'islands.inet', '--largest-part')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 nodes (2 stub), 1 links'),
  })
  writeFileSync(join(directory, 'torn.graphml'), '<graphml>\n<graph>')
  expect(await run('convert', 'torn.graphml')).toEqual(refusal('torn.graphml: line 2: unclosed tag: graph'))
})
