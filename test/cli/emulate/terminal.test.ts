import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { lastnail } from '../lastnail.ts'
import { person } from '../person.ts'
import { runningUntilOver } from '../running.ts'

/** The counter and its reader. */
const running = (pace: string) => runningUntilOver('counter.config.ts', pace)

test('a shell in a node has the terminal of whoever asks: its size, its keys, and its exit code', {
  timeout: 180_000,
}, async () => {
  const { directory, where } = await running('native')
  const { type, sees, resize, ended } = person(directory, [
    ...['control', ...where, 'exec', '-it', 'counter', '--', 'sh', '-c', 'PS1="ready> " exec sh -i'],
  ])
  await sees(/ready> $/)
  type('hostname; test -t 0 && echo $TERM; stty size\r')
  await sees(/counter\r+\nvt100\r+\n40 100\r+\nready> $/)
  resize({ columns: 90, rows: 20 })
  type('while [ "$(stty size)" != "20 90" ]; do sleep 0.1; done; stty size\r')
  await sees(/\n20 90\r+\nready> $/)
  type('sleep 1000; echo "code $?"\r')
  await sleep(300)
  type('\x03')
  await sees(/(code 130|\n)ready> $/)
  type('exit 7\r')
  expect(await ended).toBe(7)
})

test('whoever cannot have a terminal is told why', { timeout: 180_000 }, async () => {
  const { directory, where, control } = await running('virtual')
  const exec = (...args: readonly string[]) => person(directory, ['control', ...where, 'exec', ...args])
  const held = exec('-it', 'counter', '--', 'sh')
  await held.sees(/a terminal in counter is there at the pace native alone: at virtual a program runs within one step/)
  expect(await held.ended).toBe(64)
  const half = exec('-t', 'counter', '--', 'sh')
  await half.sees(/expected -i and -t together/)
  const { stderr, code } = await lastnail(directory, 'control', ...where, 'exec', '-it', 'counter', '--', 'sh')
  expect([stderr, code]).toEqual([expect.stringContaining('expected a terminal'), 64])
  await expect(control.exec('counter', ['true'])).resolves.toMatchObject({ exitCode: 0 })
})

test('a program ends with its node, and when whoever asked has gone', { timeout: 180_000 }, async () => {
  const { directory, where, control } = await running('native')
  const exec = (...words: readonly string[]) =>
    person(directory, ['control', ...where, 'exec', '-it', 'counter', '--', ...words])
  const missing = exec('no-such-program')
  await missing.sees(/cannot run no-such-program: ENOENT/)
  expect(await missing.ended).toBe(64)
  const gone = exec('sh', '-c', 'echo begun; exec sleep 4321')
  await gone.sees(/begun/)
  gone.leave()
  const sleeps = async () =>
    (await control.exec('counter', ['sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "'])).stdout.includes(
      'sleep 4321',
    )
  while (await sleeps()) await sleep(50)
  const last = exec('sh', '-c', 'echo begun; exec sleep 4321')
  await last.sees(/begun/)
  await control.kill('counter')
  expect(await last.ended).toBe(137)
})
