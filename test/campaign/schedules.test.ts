import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { printed } from '../../cli/printed/printed.ts'
import { here, lastnail } from '../cli/lastnail.ts'
import { configuration, plain, right, Service, stepsToLoss, withName, wrong } from './service.ts'

/** `bisect` starts the program that it is, so it must be the command. */
const run = (service: Service, ...args: readonly string[]) =>
  (args[0] === 'bisect' ? lastnail : here)(service.directory, ...args)
const json = (stdout: string) => JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1))

let service: Service
let file: string

/** What regress prints with `--json`, of its only schedule. */
const regress = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await run(service, 'regress', ...args, '--json')
  expect(stdout, stderr).not.toBe('')
  const [regressed] = printed.regress.parse(json(stdout)).schedules
  return { code, ...regressed! }
}

beforeAll(async () => {
  service = new Service({ 'store.js': wrong })
  const { code } = await run(service, 'try', 'lastnail.config.ts', ...stepsToLoss, '--out', 'loss.trace')
  expect(code).toBe(1)
  const { stdout } = await run(service, 'keep', 'loss.trace')
  file = stdout.replace(/^kept /, '')
}, 120_000)
afterAll(() => service.remove())

test('a violation is kept as a schedule, and counted when it is found again', { timeout: 300_000 }, async () => {
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    format: 1,
    system: 'additions',
    config: '../lastnail.config.ts',
    property: 'nothingLost',
    labels: expect.arrayContaining(['a→store #1 4 bytes :7000 "read"']),
    found: { times: 1 },
  })
  const again = await run(service, 'keep', 'loss.trace')
  expect(again.stdout).toBe(`known already, found 2 times by now: ${file}`)
  expect(JSON.parse(readFileSync(file, 'utf8')).found.times).toBe(2)
})

test('regress says that it fails; that it passes on the service that was mended; how it was adapted to a message that gained a field', {
  timeout: 300_000,
}, async () => {
  expect(await regress()).toMatchObject({ code: 1, outcome: 'fails', executed: 6, of: 6, adapted: [] })
  service.write({ 'store.js': right })
  expect(await regress()).toMatchObject({ code: 0, outcome: 'passes', executed: 6, of: 6, adapted: [] })
  service.write({ 'store.js': wrong, 'adder.js': withName })
  const before = readFileSync(file, 'utf8')
  const adapted = await regress('schedules')
  expect(adapted).toMatchObject({ code: 1, outcome: 'fails', executed: 6 })
  expect(adapted.adapted.map(({ step }) => step)).toEqual([5, 6])
  expect(readFileSync(file, 'utf8')).toBe(before)
  // As if its last steps had been of other kinds.
  writeFileSync(file, before.replace(/"bucket": "\w+"/, '"bucket": "another"'))
  await regress('--update')
  expect(await regress(file)).toMatchObject({ code: 1, outcome: 'fails', adapted: [] })
  const { labels } = JSON.parse(readFileSync(file, 'utf8'))
  await run(service, 'try', 'lastnail.config.ts', ...labels, '--out', 'adapted.trace')
  const { stdout } = await run(service, 'keep', 'adapted.trace')
  expect(stdout).toBe(`known already, found 3 times by now: ${file}`)
  writeFileSync(file, before)
})

test('regress says which step is not enabled any more, and what is', { timeout: 300_000 }, async () => {
  service.write({ 'adder.js': plain.replace("socket.send('read', 7000", "socket.send('get', 7001") })
  expect(await regress()).toMatchObject({
    code: 2,
    outcome: 'no longer applies',
    message: expect.stringMatching(
      /^step 1, "a→store #1 4 bytes :7000 "read"", is not enabled any more: enabled are "/,
    ),
  })
  service.write({ 'adder.js': plain })
})

test('confirm finds a bug that is still there, and else says how many executions came near, and the bound', {
  timeout: 300_000,
}, async () => {
  const { code, stdout } = await run(service, 'confirm', file, '--executions', '400', '--json')
  expect(code).toBe(1)
  const failed = printed.confirm.parse(json(stdout))
  expect(failed).toMatchObject({ outcome: 'fails', trace: expect.stringContaining('nothingLost.trace') })
  expect((await run(service, 'replay', failed.trace!)).code).toBe(1)
  service.write({ 'store.js': right })
  const held = await run(service, 'confirm', file, '--executions', '24', '--json')
  expect(held.code, held.stderr).toBe(0)
  const { outcome, near, bound } = printed.confirm.parse(json(held.stdout))
  expect(outcome).toBe('passes')
  expect(near).toBeGreaterThan(8)
  expect(bound).toBeCloseTo(1 - 0.05 ** (1 / near), 6)
  service.write({ 'store.js': wrong })
})

test('a schedule that is torn, newer, of another system, in conflict, or not there is refused in one line', {
  timeout: 300_000,
}, async () => {
  const content = readFileSync(file, 'utf8')
  const refusal = async (changed: string) => {
    writeFileSync(file, changed)
    const { code, stdout, stderr } = await run(service, 'regress')
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
    expect(stderr.split('\n')).toHaveLength(1)
    expect(readFileSync(file, 'utf8')).toBe(changed)
    return stderr
  }
  expect(await refusal(content.slice(0, 200))).toMatch(/ is torn, or was edited /)
  expect(await refusal(content.replace('"format": 1', '"format": 2'))).toMatch(/has format 2, of a newer lastnail/)
  expect(await refusal(content.replace('"system": "additions"', '"system": "others"'))).toMatch(
    /a schedule of the system "others", and .* defines "additions"/,
  )
  expect(await refusal(content.replace('"seed": 1,\n', '"seed": "one",\n'))).toMatch(/is not a schedule: seed: /)
  expect(await refusal(`<<<<<<< ours\n${content}`)).toMatch(/has conflict markers of git/)
  writeFileSync(file, content)
  expect(await run(service, 'regress', 'nowhere')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('nowhere'),
  })
  expect(await run(service, 'keep', file)).toMatchObject({ code: 64 })
})

test('bisect finds the commit that brought a bug back, over files that were renamed and a commit that does not build', {
  timeout: 300_000,
}, async () => {
  const history = new Service()
  try {
    await history.commit('right')
    await history.commit('wrong', { 'store.js': wrong })
    const mended = await history.commit('mended', { 'store.js': right })
    await history.commit('does not build', { 'store.js': `${right}(` })
    const moved = {
      'src/adder.js': plain,
      'check.config.ts': configuration('src/'),
      'store.js': null,
      'adder.js': null,
      'lastnail.config.ts': null,
    }
    await history.commit('files moved', { ...moved, 'src/store.js': right })
    const wrongAgain = await history.commit('wrong again', { 'src/store.js': wrong })
    await history.commit('a field more', { 'src/adder.js': withName })
    await run(history, 'try', 'check.config.ts', ...stepsToLoss, '--out', 'loss.trace')
    const { stdout: said } = await run(history, 'keep', 'loss.trace')
    const kept = said.replace(/^kept /, '')
    const build = ['--build', 'for file in $(git ls-files "*.js"); do node --check $file || exit 1; done']
    const { code, stdout, stderr } = await run(history, 'bisect', kept, '--good', mended, ...build, '--json')
    expect(code, stderr).toBe(0)
    const found = printed.bisect.parse(json(stdout))
    expect(found.first).toBe(wrongAgain)
    expect(await history.git('worktree', 'list')).not.toContain('\n')
    expect(await run(history, 'bisect', kept, '--good', 'HEAD')).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/expected HEAD to be good, and it is bad: /),
    })
    expect(await run(history, 'bisect', kept, '--good', mended, '--build', 'echo out of memory; false')).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/HEAD cannot be judged: the build command failed: out of memory/),
    })
    expect(await run(history, 'bisect', kept, '--good', 'nothing')).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/expected a revision .* found "nothing"/),
    })
  } finally {
    history.remove()
  }
})
