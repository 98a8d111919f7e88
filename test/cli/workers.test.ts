import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, lastnail } from './lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  afterAll(copy.remove)
})

const check = (...args: readonly string[]) => lastnail(directory, 'check', 'adders.config.ts', '--json', ...args)

test('what one worker finds ends the search of all, and is recorded', async () => {
  const { code, stdout } = await check('--property', 'noUpdateLost', '--workers', '2', '--for', '10m', '--out', 'found')
  expect(code).toBe(1)
  const outcome = JSON.parse(stdout)
  expect(outcome).toMatchObject({ verdict: 'violated', property: 'noUpdateLost', seed: 1, repeated: true })
  expect((await lastnail(directory, 'replay', outcome.trace)).code).toBe(1)
})

test('executions are divided among the workers', async () => {
  const { code, stdout } = await check('--property', 'atMostTwo', '--workers', '2', '--executions', '5')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'held', executions: 5 })
})

test('the bounded search is not divided', async () => {
  const { code, stdout, stderr } = await check('--search', 'bounded', '--workers', '2')
  expect({ code, stdout, stderr }).toEqual({
    code: 64,
    stdout: '',
    stderr: 'lastnail: the bounded search has one worker, not 2',
  })
})
