import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { isAboutBeginning } from '../../../cli/check/goals.ts'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

const config = (goal: number) => `
  import { always, defineSystem, jsonLines, reach } from 'lastnail'
  interface Count { readonly count: number }
  export default defineSystem({
    name: 'counting',
    nodes: { counter: { command: [process.execPath, 'count.js'], listens: 7000 } },
    state: jsonLines<Count>(),
    clients: { ann: { run: async ({ counter }) => (await counter.http(7000, '/')).body.text(), times: 5 } },
    goal: reach('it counts ${goal}', s => s.node('counter').state?.count === ${goal}),
    properties: { neverFive: always(s => s.node('counter').state?.count !== 5) },
  })`

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({
    'count.js': `
      let count = 0
      require('node:http').createServer((_, response) => {
        count += 1
        console.log(JSON.stringify({ count }))
        response.end('')
      }).listen(7000)`,
    'three.config.ts': config(3),
    'nine.config.ts': config(9),
    'wrong.config.ts': config(3).replace("reach('it counts 3', ", 'always('),
  })
  directory = copy.directory
  return () => rmSync(directory, { recursive: true, force: true })
})

const checked = async (file: string, ...args: readonly string[]) => {
  const { code, stdout, stderr } = await lastnail(directory, 'check', file, '--executions', '12', '--json', ...args)
  return { code, stderr, outcome: (code ?? 70) < 64 ? JSON.parse(stdout.trim().split('\n').at(-1)!) : undefined }
}

test.each(['1', '2'])(
  'executions begin where the goal is reached, with %s workers',
  { timeout: 240_000 },
  async workers => {
    const { code, outcome } = await checked('three.config.ts', '--workers', workers)
    expect({ code, outcome }).toMatchObject({ code: 1, outcome: { property: 'neverFive', repeated: true } })
    expect(outcome.notes[0]).toMatch(
      /^executions began where "it counts 3" holds, after 3 steps: found in \d+ executions?$/,
    )
    expect(outcome.schedule.slice(0, 3)).toEqual(Array(3).fill(expect.stringMatching(/^client ann/)))
  },
)

test('the way to a goal is shrunk by hand too, for the goal as it is now', { timeout: 240_000 }, async () => {
  const { outcome } = await checked('three.config.ts')
  const [, way] = /--from '(.*\.trace)'$/.exec(outcome.notes[1])!
  const file = join(directory, 'three.config.ts')
  writeFileSync(file, readFileSync(file, 'utf8').replace('count === 3', 'count === 2'))
  const shrunk = await lastnail(directory, 'shrink', way!)
  expect(shrunk).toMatchObject({ code: 0 })
  expect(shrunk.stdout).toMatch(
    /^ {3}1 {2}client ann\n {3}2 {2}client ann\nheld\n"it counts 3" holds after 2 steps\nnote: to begin where .*: --from /,
  )
  const [, shorter] = /^trace: (.*goal-1-it counts 3\.shrunk\.trace)$/m.exec(shrunk.stdout)!
  const json = await lastnail(directory, 'shrink', shorter!, '--json')
  expect(JSON.parse(json.stdout.split('\n').at(-1)!)).toMatchObject({ verdict: 'held', repeated: true, searches: [] })
  writeFileSync(file, readFileSync(file, 'utf8').replace('count === 2', 'count === 3'))
})

test('a goal that is not reached is named, and executions begin at the start', { timeout: 240_000 }, async () => {
  const begun = performance.now()
  const { outcome } = await checked('nine.config.ts')
  const { seconds, executions, spent } = outcome
  expect(spent).toMatchObject({ goal: 6, audit: 0 })
  expect(spent.search + spent.goal + spent.examination).toBe(executions)
  // All but the start of the command, of which the way to the goal is a good part.
  expect(seconds).toBeLessThan((performance.now() - begun) / 1000)
  expect(seconds).toBeGreaterThan((performance.now() - begun) / 4000)
  expect(outcome.notes[0]).toMatch(/^"it counts 9" was not reached in 6 executions: executions began at the start$/)
  expect(outcome).toMatchObject({ verdict: 'violated', property: 'neverFive' })
})

/** A lock that opens by two of three keys in this order: the last stage comes after the others alone. */
const stages = (goal: string) => `
  import { always, defineSystem, jsonLines, reach } from 'lastnail'
  const turn = key => ({ run: async ({ lock }) => (await lock.http(7000, '/' + key)).statusCode, times: 3 })
  const at = name => reach(name, s => s.node('lock').state?.open.length > 0 && s.node('lock').state.open.at(-1) === name)
  export default defineSystem({
    name: 'stages',
    nodes: { lock: { command: [process.execPath, 'lock.js'], listens: 7000 } },
    state: jsonLines(),
    clients: { a: turn('a'), b: turn('b'), c: turn('c') },
    goal: ${goal},
    properties: { closed: always(s => s.node('lock').state?.open.join('') !== 'abc') },
  })`

const lock = `
  const open = []
  require('node:http').createServer(({ url }, response) => {
    if (url[1] === 'abc'[open.length]) open.push(url[1])
    console.log(JSON.stringify({ open }))
    response.end('')
  }).listen(7000)`

test('goals are reached one after the other, and the way to each is a trace to begin with', async () => {
  const { directory: place, remove } = copyOfFixtures({
    'lock.js': lock,
    'stages.config.ts': stages(`[at('a'), at('b')]`),
    'nearest.config.ts': stages(`[at('a'), at('x')]`),
    'twice.config.ts': stages(`[at('a'), at('a')]`),
  })
  const check = async (file: string, ...args: string[]) => {
    const { stdout } = await lastnail(place, 'check', file, '--executions', '30', '--json', ...args)
    return JSON.parse(stdout.trim().split('\n').at(-1)!)
  }
  const both = await check('stages.config.ts')
  expect(both).toMatchObject({ verdict: 'violated', property: 'closed' })
  expect(both.schedule).toEqual(['client a', 'client b', 'client c'])
  const [first, toFirst, second, toSecond] = both.notes
  expect(first).toMatch(/^"a" holds after 1 step: found in \d+ executions?$/)
  expect(second).toMatch(/^executions began where "b" holds, after 2 steps: found in \d+ executions?$/)
  const traceIn = (note: string) => /(\S+\.trace)$/.exec(note)![1]!
  expect(toFirst).toMatch(/^to begin where "a" holds: --from .*goal-1-a\.trace$/)
  const again = await check('stages.config.ts', '--from', traceIn(toSecond))
  expect(again.schedule).toEqual(['client a', 'client b', 'client c'])
  expect(again.notes.join()).not.toContain('executions began where')

  const missed = await check('nearest.config.ts')
  const note = missed.notes.find((each: string) => each.includes('was not reached'))
  expect(note).toMatch(/^"x" was not reached in \d+ executions: executions began where "a" holds$/)
  const nearest = missed.notes.find((each: string) => each.startsWith('the nearest state to "x"'))
  expect(nearest, missed.notes.join('\n')).toContain('of which its function read most before it answered no')
  const replayed = await lastnail(place, 'replay', traceIn(nearest))
  expect(replayed.code).toBe(0)

  expect([...both.notes, ...missed.notes].filter(isAboutBeginning)).toEqual([
    ...both.notes.slice(0, 4),
    ...missed.notes.slice(0, 4),
  ])
  expect(isAboutBeginning('no client had a call left after step 3')).toBe(false)

  const { code, stderr } = await lastnail(place, 'check', 'twice.config.ts')
  expect({ code, stderr }).toMatchObject({ code: 64, stderr: expect.stringContaining('goals with different names') })
  remove()
}, 240_000)

test('a goal that is none is refused', async () => {
  const { code, stderr } = await checked('wrong.config.ts')
  expect({ code, stderr }).toEqual({
    code: 64,
    stderr: expect.stringContaining("lastnail: goal: expected reach('its name', state => …), found {"),
  })
})
