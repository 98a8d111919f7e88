import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, here as lastnail, start } from '../lastnail.ts'
import { recordedIn } from '../recorded.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

const change = (name: string, from: string, to: string) => {
  const path = join(directory, name)
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
}

test('a trace of one property comes to its violation, though another property was violated before', {
  timeout: 180_000,
}, async () => {
  const { code, stdout } = await lastnail(directory, 'replay', recordedIn(directory, 'update-lost'), '--json')
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'violated', property: 'noUpdateLost', kind: 'safety' })
})

test('a liveness property that became one of safety is not looked for any more', { timeout: 180_000 }, async () => {
  const trace = recordedIn(directory, 'never-done')
  const replay = () => start(directory, ['replay', trace], { env: { DROPS: '1' } })
  expect((await replay()).exitCode).toBe(1)
  change('adders.config.ts', 'bothDone: eventually(isDone)', 'bothDone: always(() => true)')
  const { exitCode, stderr } = await replay()
  change('adders.config.ts', 'bothDone: always(() => true)', 'bothDone: eventually(isDone)')
  expect(exitCode).toBe(64)
  expect(String(stderr).split('\n').at(-1)).toBe(
    'lastnail: bothDone was violated as liveness, and now it is of the kind always',
  )
})

test('repeat says that the steps of a trace are not enabled any more, instead of that all executions are the same', {
  timeout: 60_000,
}, async () => {
  await lastnail(directory, 'try', 'adders.config.ts', 'a→store', 'store→a', '--out', 'tried.trace')
  expect(await lastnail(directory, 'repeat', 'tried.trace', '--times', '2')).toMatchObject({ code: 0 })
  change('adder.js', "'read'", "'see'")
  const { code, stdout, stderr } = await lastnail(directory, 'repeat', 'tried.trace', '--times', '2')
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  expect(stderr).toMatch(/^lastnail: diverged at step 1: expected "a→store #1 4 bytes :7000 "read"", but enabled are /)
})
