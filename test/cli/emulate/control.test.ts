import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { control } from '../../../cli/emulate/client.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

/** Runs the counter and its reader until the test is over. */
const running = async (pace: string, name = 'counter') => {
  const { directory, remove } = copyOfFixtures()
  const config = readFileSync(join(directory, 'counter.config.ts'), 'utf8')
  const { directory: own, remove: removeOwn } = copyOfFixtures({
    'counter.config.ts': config.replace(/name: '\w+'/, `name: '${name}'`),
  })
  remove()
  const run = start(own, ['emulate', 'counter.config.ts', '--pace', pace, '--for', '400h', '--json'])
  onTestFinished(async () => {
    run.kill('SIGKILL')
    await run
    removeOwn()
  })
  return { run, directory: own, ...(await controlOf(run)) }
}

test('at the pace virtual what it is told happens at the present time, and is done again by a replay', {
  timeout: 180_000,
}, async () => {
  const { run, directory, control } = await running('virtual')
  while ((await control.list()).elapsedMs === 0) await sleep(20)
  await control.impair('counter', 'reader', { delayMs: 25, bandwidth: 1e6, queue: { packets: 5, discipline: 'red' } })
  const before = (await control.list()).elapsedMs
  expect(await control.exec('reader', ['sh', '-c', 'echo $0 is run; exit 3', 'this'])).toEqual({
    exitCode: 3,
    stdout: 'this is run',
    stderr: '',
  })
  await expect(control.exec('nobody', ['true'])).rejects.toThrow('no node nobody: known are counter, reader')
  await expect(control.exec('reader', ['no-such-program'])).resolves.toMatchObject({ exitCode: 127 })
  expect((await control.kill('counter')).nodes[0]).toMatchObject({ name: 'counter', isAlive: false })
  await expect(control.exec('counter', ['true'])).rejects.toThrow('counter is down: cannot run true in it')
  run.kill('SIGINT')
  const summary = JSON.parse(String((await run).stdout))
  const { steps } = readTrace(join(directory, summary.trace))
  const told = steps.filter(({ input }) => input !== undefined)
  expect(told.map(({ choice }) => choice?.label)).toEqual([
    'set counter→reader delayMs 25 bandwidth 1000000 queue {"packets":5,"discipline":"red"}',
    'exec reader sh -c echo $0 is run; exit 3 this',
    'exec reader no-such-program',
    'leave counter kill',
    'exec counter true',
  ])
  expect(told[1]!.atMs).toBeGreaterThanOrEqual(before)
  expect(summary.clients.map(({ name }: { name: string }) => name)).not.toContain('exec reader')
  expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
})

test('one of two runs is chosen by name or directory; the output of nodes can be followed', {
  timeout: 180_000,
}, async () => {
  // Other tests run systems as well.
  const [first, second] = [`one-${process.pid}`, `other-${process.pid}`]
  const one = await running('real', first)
  await running('native', second)
  const from = (...args: readonly string[]) => lastnail(one.directory, 'control', ...args)
  expect(() => control()).toThrow(/\d systems run: say which by --run, a name or a directory: .*one-/)
  expect(() => control('third')).toThrow(/no system third runs: there is /)
  expect(await control(first).list()).toMatchObject({ system: first })
  expect(await control(join(one.directory, '.lastnail', first, 'latest')).list()).toMatchObject({ system: first })
  expect(await from('--run', second, 'exec', 'counter', '--', 'sh', '-c', 'hostname; exit 4')).toMatchObject({
    code: 4,
    stdout: 'counter',
  })
  const { directory } = await one.control.list()
  const written = () => readFileSync(join(directory, 'output', 'counter.stdout'), 'utf8')
  while (written() === '') await sleep(50)
  const follower = start(one.directory, ['control', '--run', first, 'output', 'counter', '--follow'])
  await new Promise(resolve => follower.stdout!.once('data', resolve))
  one.run.kill('SIGINT')
  await one.run
  const followed = await follower
  expect(followed).toMatchObject({ exitCode: 0 })
  expect(String(followed.stdout).trimEnd()).toBe(written().trimEnd())
  expect(await from('--run', second, 'output', 'nobody')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('no node nobody'),
  })
})
