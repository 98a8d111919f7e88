import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

const command = join(import.meta.dirname, '../../../bin/lastnail.js')
const check = ['check', 'adders.config.ts', '--property', 'bothDone', '--executions', '30', '--workers', '1']

test('at a terminal a line tells how far it is', async () => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  const line = `stty columns 200; node ${command} ${check.join(' ')}`
  const { stdout } = await execa('script', ['-qec', line, '/dev/null'], { cwd: directory, reject: false })
  const lines = stdout.split('\r\u001b[K')
  expect(lines.length).toBeGreaterThan(3)
  expect(lines[2]).toMatch(/^searching · \d+ executions · \d+ steps\/s · \d+ states · depth \d+ · 100 % live$/)
})

test('a terminal without a width gets the whole line', async () => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  const line = `stty columns 0; node ${command} ${check.join(' ')}`
  const { stdout } = await execa('script', ['-qec', line, '/dev/null'], { cwd: directory, reject: false })
  expect(stdout.split('\r\u001b[K')[2]).toMatch(/ · 100 % live$/)
})

test('where there is none it is quiet', async () => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  expect(await lastnail(directory, ...check)).toMatchObject({ code: 0, stderr: '' })
})
