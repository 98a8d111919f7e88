import { rmSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, lastnail } from './lastnail.ts'

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

test('a goal that is not reached is named, and executions begin at the start', { timeout: 240_000 }, async () => {
  const { outcome } = await checked('nine.config.ts')
  expect(outcome.notes[0]).toMatch(/^"it counts 9" was not reached in 6 executions: executions began at the start$/)
  expect(outcome).toMatchObject({ verdict: 'violated', property: 'neverFive' })
})

test('a goal that is none is refused', async () => {
  const { code, stderr } = await checked('wrong.config.ts')
  expect({ code, stderr }).toEqual({
    code: 64,
    stderr: expect.stringContaining("lastnail: goal: expected reach('its name', state => …), found {"),
  })
})
