import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { printed } from '../../../cli/printed/printed.ts'
import { copyOfFixtures, here, lastnail } from '../lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({
    'draws.js': `setInterval(() => console.log('drew ' + Math.random()), 1000)`,
    'draws.config.ts': `
      import { defineSystem } from 'lastnail'
      export default defineSystem({
        name: process.env.NAME ?? 'draws',
        nodes: { a: { command: ['node', 'draws.js'] } },
        emulation: { for: '3500ms', measure: { drew: /drew (?<number>[\\d.]+)/ } },
      })`,
  })
  directory = copy.directory
  return copy.remove
})

test('several seeds are several runs, which one plot compares; so does plot later', async () => {
  const { stdout, stderr } = await lastnail(
    directory,
    'emulate',
    'draws.config.ts',
    '--seeds',
    '3',
    '--seed',
    '5',
    '--for=2500ms',
    '--json',
  )
  const { runs, plotted } = printed['emulate --seeds'].parse(JSON.parse(stdout.trim().split('\n').at(-1)!))
  expect(
    runs.map(({ seed, verdict, exitCode }) => [seed, verdict, exitCode]),
    stderr,
  ).toEqual([
    [5, 'held', 0],
    [6, 'held', 0],
    [7, 'held', 0],
  ])
  const drawn = { group: 'draws', of: 'drew number', runs: 3, values: 6 }
  expect(plotted).toMatchObject({ figures: [drawn], plot: '.lastnail/seeds.svg' })
  expect(plotted!.figures[0]!.deviation).toBeGreaterThan(0)
  expect(readFileSync(join(directory, plotted!.plot), 'utf8')).toContain('draws (3 runs)')
  const again = await here(directory, 'plot', ...runs.map(({ trace }) => trace!), '--by', 'seed', '--json')
  expect(printed.plot.parse(JSON.parse(again.stdout))).toEqual({ ...plotted, plot: 'plot.svg' })
})
