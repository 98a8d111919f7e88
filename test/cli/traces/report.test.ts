import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { scheduleOf } from '../../../checker/trace/again.ts'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, here as lastnail } from '../lastnail.ts'

/** What comes first counts: a door that was shut stays shut. */
const door = `
  let first
  require('node:dgram').createSocket('udp4').bind(7000).on('message', text => {
    first ??= String(text)
    console.log(JSON.stringify({ first }))
  })`
const guest = `
  const socket = require('node:dgram').createSocket('udp4')
  for (const text of ['open', 'shut']) socket.send(text, 7000, process.argv[1])`

const config = `
  import { defineSystem, eventually, jsonLines } from 'lastnail'
  export default defineSystem({
    name: 'house',
    nodes: {
      door: { command: ['node', '-e', ${JSON.stringify(door)}] },
      guest: { command: ['node', '-e', ${JSON.stringify(guest)}, '{{door.address}}'] },
    },
    state: jsonLines('stdout'),
    properties: { doorOpens: eventually(s => s.node('door').state?.first === 'open') },
    overlap: 0,
  })`

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({ 'house.config.ts': config })
  directory = copy.directory
  return copy.remove
})

const run = (...args: readonly string[]) => lastnail(directory, ...args)

test('a check leaves the trace of the dead execution, that of the closest live one, and a report of both', async () => {
  const { code, stdout } = await run('check', 'house.config.ts', '--search', 'walk', '--executions', '40')
  expect(stdout).toContain('violated: liveness doorOpens')
  expect(code).toBe(1)
  const path = (extension: string) => join(directory, `.lastnail/house/latest/doorOpens.${extension}`)
  expect(realpathSync(path('html'))).toBe(stdout.split('\n').at(-1)!.replace('report: ', ''))
  const shut = 'guest→door #2 4 bytes :7000 "shut"'
  const open = 'guest→door #1 4 bytes :7000 "open"'
  const dead = readTrace(path('trace'))
  expect(scheduleOf(dead).at(-1)).toBe(shut)
  expect(scheduleOf(readTrace(path('live.trace')))).toEqual([...scheduleOf(dead).slice(0, -1), open])
  expect((await run('replay', path('live.trace'))).code).toBe(0)

  // A report of the dead one alone, where that is all there is.
  const both = readFileSync(path('html'), 'utf8')
  rmSync(path('live.trace'))
  expect(await run('report', path('trace'))).toEqual({ code: 0, stdout: path('html'), stderr: '' })
  expect(readFileSync(path('html'), 'utf8').length).toBeLessThan(both.length)
})

test('a check that finds nothing leaves one execution as a sample, and its report', async () => {
  const out = join(directory, 'nothing')
  const args = ['--property', 'atMostTwo', '--executions', '1', '--out', out]
  const { stdout } = await run('check', 'adders.config.ts', ...args)
  const [, sample] = /^sample: (.*)$/m.exec(stdout)!
  const [, report] = /^report: (.*)$/m.exec(stdout)!
  expect([sample, report].map(path => existsSync(path!))).toEqual([true, true])
  expect(readdirSync(dirname(sample!))).toEqual(['sample.html', 'sample.trace'])
})

test('a report is written where it is wanted; where it cannot be, one line says so', async () => {
  const trace = join(directory, 'some.trace')
  writeFileSync(trace, readFileSync(join(import.meta.dirname, '../../report/fixtures/transport.trace')))
  const elsewhere = join(directory, 'elsewhere.html')
  expect(await run('report', trace, '--out', elsewhere)).toEqual({ code: 0, stdout: elsewhere, stderr: '' })
  expect(existsSync(elsewhere)).toBe(true)
  expect(await run('report', trace, '--out', join(directory, 'no/such.html'))).toMatchObject({
    ...{ code: 64, stdout: '' },
    stderr: expect.stringMatching(/^lastnail: cannot write the report .*no\/such\.html: ENOENT.*$/),
  })
})
