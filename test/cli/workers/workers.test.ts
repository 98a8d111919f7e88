import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

const check = (...args: readonly string[]) => lastnail(directory, 'check', 'adders.config.ts', '--json', ...args)

test('what workers find is recorded', async () => {
  const { code, stdout } = await check('--property', 'noUpdateLost', '--workers', '2', '--for', '10m', '--out', 'found')
  expect(code).toBe(1)
  const outcome = JSON.parse(stdout)
  expect(outcome).toMatchObject({ verdict: 'violated', property: 'noUpdateLost', seed: 1, repeated: true })
  expect((await lastnail(directory, 'replay', outcome.trace)).code).toBe(1)
})

test.each([
  ['atMostTwo', ['--executions', '24']],
  ['noUpdateLost', ['--executions', '24']],
  ['atMostTwo', ['--search', 'bounded', '--depth', '3']],
])('the verdict on %s with %o is the same with any number of workers', async (property, options) => {
  const verdicts = []
  for (const workers of ['1', '3']) {
    const { stdout } = await check('--property', property, ...options, '--workers', workers)
    const { seconds, stepsPerSecond, trace, report, issue, sample, ...verdict } = JSON.parse(stdout)
    verdicts.push(verdict)
  }
  expect(verdicts[1]).toEqual(verdicts[0])
})
