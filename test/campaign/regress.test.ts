import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { printed } from '../../cli/printed/printed.ts'
import { here as lastnail } from '../cli/lastnail.ts'
import { configuration, Service } from './service.ts'

let service: Service
beforeEach(() => {
  service = new Service()
})
afterEach(() => service.remove())

const run = (...args: readonly string[]) => lastnail(service.directory, ...args)

test.each([
  ['regress', 'kept.json'],
  ['bisect', 'kept.json', '--good', 'HEAD'],
])('%s with no executions at all is refused in one line', { timeout: 60_000 }, async (...args) => {
  await service.commit('first')
  service.keep({ labels: ['a→store #1 4 bytes :7000 "read"'] })
  expect(await run(...args, '--executions', '0')).toEqual({
    code: 64,
    stdout: '',
    stderr: expect.stringMatching(
      /^lastnail: option '--executions <n>' argument '0' is invalid\. expected .*at least 1\.$/,
    ),
  })
})

test('a property that became one of another kind is not what a schedule was kept for', {
  timeout: 120_000,
}, async () => {
  const outcomeOf = async (kind: 'liveness' | 'safety', now: string) => {
    service.keep({ kind, labels: ['a→store #1 4 bytes :7000 "read"'] })
    service.write({
      'lastnail.config.ts': configuration()
        .replace('import { always', 'import { always, eventually, sometimes')
        .replace('always(state', `${now}(state`),
    })
    const { stdout } = await run('regress', 'kept.json', '--json')
    const [{ outcome, message }] = printed.regress.parse(JSON.parse(stdout)).schedules as [never]
    return `${outcome}: ${message}`
  }
  expect(await outcomeOf('liveness', 'always')).toBe(
    'no longer applies: nothingLost was violated as liveness, and now it is of the kind always',
  )
  expect(await outcomeOf('safety', 'sometimes')).toBe(
    'no longer applies: nothingLost was violated as safety, and now it is of the kind sometimes',
  )
  expect(await outcomeOf('safety', 'always')).toMatch(/^passes: /)
  expect(await outcomeOf('liveness', 'eventually')).toMatch(/^passes: /)
})

test('a violation in the initial state, of which the schedule has no step, is confirmed', {
  timeout: 120_000,
}, async () => {
  service.write({ 'lastnail.config.ts': configuration().replace('return value === writes', 'return false') })
  await run('try', 'lastnail.config.ts', 'a→store', '--out', 'first.trace')
  const { stdout } = await run('keep', 'first.trace')
  const file = stdout.replace(/^kept /, '')
  expect(await run('regress', file)).toMatchObject({ code: 1 })
  const confirmed = await run('confirm', file, '--executions', '3', '--json')
  expect(confirmed).toMatchObject({ code: 1, stderr: '' })
  expect(JSON.parse(confirmed.stdout)).toMatchObject({ outcome: 'fails', executions: 1 })
  service.write({ 'lastnail.config.ts': configuration() })
  const held = await run('confirm', file, '--executions', '6', '--json')
  expect(held).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(held.stdout)).toMatchObject({ outcome: 'passes', executions: 6, near: 6 })
})

test('a violation that new processes do not repeat leaves it open whether the bug is mended', {
  timeout: 60_000,
}, async () => {
  // No boundary holds a directory of the machine, so each execution finds another count there.
  const outside = mkdtempSync('/var/tmp/lastnail-outside-')
  onTestFinished(() => rmSync(outside, { recursive: true }))
  const file = join(outside, 'count')
  writeFileSync(file, '0')
  service.write({
    'counter.cjs': `const { readFileSync, writeFileSync } = require('node:fs')
setInterval(() => {
  const count = Number(readFileSync('${file}', 'utf8'))
  writeFileSync('${file}', String(count + 1))
  console.log(JSON.stringify({ count }))
}, 1000)
`,
    'lastnail.config.ts': `import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'additions',
  nodes: { n: { command: ['node', 'counter.cjs'], write: ['${outside}'] } },
  state: jsonLines('stdout'),
  properties: { nothingLost: always(state => state.node('n').state?.count !== 3) },
})
`,
  })
  service.keep({ labels: ['n timer +1000ms'] })
  const { code, stdout } = await run('confirm', 'kept.json', '--executions', '8', '--json')
  expect(code).toBe(2)
  expect(printed.confirm.parse(JSON.parse(stdout))).toMatchObject({
    ...{ outcome: 'no longer applies', executions: 8, bound: null, trace: null },
    message: expect.stringMatching(
      /^\d of 8 executions came near; one does not repeat: nothingLost does not hold .*; executed once more, by new processes, it did not violate it$/,
    ),
  })
})
