import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

const config = `
import { defineSystem } from 'lastnail'
const command = ['node', '-e', 'setInterval(() => console.log("up"), 200)']
export default defineSystem({ name: 'planned', nodes: { a: { command }, b: { command } } })`

test.each(['real', 'native'])('at the pace %s a plan is replaced while it runs', { timeout: 180_000 }, async pace => {
  const { directory, remove } = copyOfFixtures({ 'planned.config.ts': config, 'first.txt': '300s leave a kill\n' })
  onTestFinished(remove)
  const run = start(directory, ['emulate', 'planned.config.ts', '--pace', pace, '--for', '10m', '--json'])
  onTestFinished(async () => {
    run.kill('SIGKILL')
    await run
  })
  const { control, origin, token } = await controlOf(run)
  const asked = (...args: readonly string[]) =>
    lastnail(directory, 'control', '--url', origin, '--token', token, 'plan', ...args)
  const first = await asked('first.txt')
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('  at 300 s: a leaves (kill)') })
  const again = JSON.parse((await asked('first.txt', '--json')).stdout)
  expect(again.planned).toEqual([{ atMs: 300_000, happening: 'a leaves (kill)' }])
  const { elapsedMs } = await control.list()
  const at = (afterMs: number) => Math.ceil(elapsedMs) + afterMs
  const second = await control.plan(`${at(6000)}ms leave b kill\n${at(7000)}ms join b\n`)
  expect(second.planned).toEqual([
    { atMs: at(6000), happening: 'b leaves (kill)' },
    { atMs: at(7000), happening: 'b joins' },
  ])
  await expect(control.plan('0 leave a\n')).rejects.toThrow(
    /^"a leaves \(stop\)" is planned for 0 s: expected a time after /,
  )
  await expect(control.plan('300s leave c\n')).rejects.toThrow('there is no node "c"')
  while ((await control.list()).planned.length > 0) await new Promise(resolve => setTimeout(resolve, 100))
  while ((await control.list()).elapsedMs < at(7500)) await new Promise(resolve => setTimeout(resolve, 100))
  const { nodes } = await control.list()
  expect(nodes.map(({ name, isAlive }) => [name, isAlive])).toEqual([
    ['a', true],
    ['b', true],
  ])
  run.kill('SIGINT')
  const { trace } = JSON.parse(
    String((await run).stdout)
      .trim()
      .split('\n')
      .at(-1)!,
  )
  const steps = readTrace(join(directory, trace)).steps.filter(({ choice }) => choice?.label.includes(' b'))
  const happened = steps.filter(({ choice }) => /leave|leaves|join/.test(choice!.label))
  expect(happened).toHaveLength(2)
  for (const [index, afterMs] of [6000, 7000].entries())
    expect(happened[index]!.atMs).toBeGreaterThanOrEqual(at(afterMs))
  if (pace === 'native') return
  expect(await lastnail(directory, 'replay', trace)).toMatchObject({ code: 0 })
})
