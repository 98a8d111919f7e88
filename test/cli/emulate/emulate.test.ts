import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { control } from '../../../cli/emulate/client.ts'
import { lastnail as byItself, copyOfFixtures, here as lastnail, start } from '../lastnail.ts'
import { processesIn, runDirectoriesOf } from '../leftovers.ts'
import { controlOf, metric } from '../running.ts'

const bin = join(import.meta.dirname, '../../../bin/lastnail.js')

const files = (more: Readonly<Record<string, string>> = {}) => {
  const { directory, remove } = copyOfFixtures(more)
  onTestFinished(remove)
  return directory
}

/** A run that goes on, and who can ask it. */
const begin = async (directory: string, ...args: readonly string[]) => {
  const run = start(directory, ['emulate', 'counter.config.ts', '--json', ...args])
  onTestFinished(() => void run.kill('SIGKILL'))
  return { run, ...(await controlOf(run)) }
}

const until = async (isSo: () => Promise<boolean> | boolean) => {
  while (!(await isSo())) await sleep(50)
}

test('a run tells what held, how clients fared, and leaves a trace that the report opens', async () => {
  const directory = files({ 'plan.txt': '2s leave counter kill\n4s join counter\n' })
  const args = ['--for', '10s', '--churn', 'plan.txt', '--json']
  const { code, stdout } = await lastnail(directory, 'emulate', 'counter.config.ts', ...args)
  const summary = JSON.parse(stdout)
  expect(summary).toMatchObject({
    ...{ faults: 1, crashes: 0 },
    properties: [
      { name: 'readerIsNotAhead', looksWithout: 0 },
      { name: 'readerSees', outages: expect.any(Number) },
    ],
    recovery: { count: 1 },
    clients: [{ name: 'get', calls: expect.any(Number) }],
  })
  // Where the machine does much else, the reader may just have waited too long.
  expect(['held 0', 'undetermined 2']).toContain(`${summary.verdict} ${code}`)
  // The counter was away for two seconds.
  expect(summary.properties[1].looksWithout).toBeGreaterThan(4)
  expect(summary.recovery.p50).toBeGreaterThan(800)
  expect(summary.clients[0].calls).toBeGreaterThan(summary.clients[0].failed)
  const trace = readTrace(join(directory, summary.trace))
  const labels = trace.steps.flatMap(({ choice }) => choice?.label.replace(/^\S+ s /, '') ?? [])
  expect(labels.filter(label => label !== 'look')).toEqual(['counter leaves (kill)', 'counter joins'])
  expect(readFileSync(join(directory, summary.plot), 'utf8')).toMatch(/^<svg/)
  expect((await lastnail(directory, 'report', summary.trace)).code).toBe(0)
  const refused = { code: 64, stderr: expect.stringContaining('is of a run at the pace native') }
  expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject(refused)
  expect(await lastnail(directory, 'check', 'counter.config.ts', '--from', summary.trace)).toMatchObject(refused)
})

test('a run can be told what to do, by a program and from the command line', async () => {
  const directory = files()
  const { run, control: asked, origin, token } = await begin(directory, '--for', '60s')
  await until(async () => (await metric(asked, 'looks_total')) > 2)
  const verb = (...words: readonly string[]) =>
    lastnail(directory, 'control', '--url', origin, '--token', token, ...words)

  expect((await verb('partition', 'counter', 'reader')).stdout).toContain('partition: counter reader')
  const out = 'looks_without_property_total{property="readerSees"}'
  const before = await metric(asked, out)
  await until(async () => (await metric(asked, out)) > before)
  expect((await asked.heal()).groups).toBeNull()

  expect((await verb('set', 'reader', 'counter', '--delay', '200', '--both')).stdout).toContain(
    'counter→reader: {"delayMs":200}',
  )
  expect((await asked.impair('reader', 'counter', null, true)).ways).toEqual([])
  await asked.reset('reader', 'counter')
  expect((await asked.kill('counter')).nodes[0]).toMatchObject({ name: 'counter', isAlive: false })
  expect((await asked.join('counter')).nodes[0]).toMatchObject({ isAlive: true })
  await expect(asked.kill('nobody')).rejects.toThrow('no node nobody: known are counter, reader')
  await expect(asked.act({ does: 'dance' } as never)).rejects.toThrow(/does/)
  await expect(asked.impair('reader', 'counter', { queue: { packets: 2 ** 53 } })).rejects.toThrow(/queue/)
  const packets = ['set', 'reader', 'counter', '--bandwidth', '1000', '--queue', '100001']
  expect(await verb(...packets)).toMatchObject({ code: 64, stderr: expect.stringContaining('queue') })
  await expect(control({ origin, token: 'no' }).list()).rejects.toThrow(/token/)

  run.kill('SIGINT')
  const { stdout, exitCode } = await run
  expect(JSON.parse(String(stdout))).toMatchObject({ faults: 4, crashes: 0 })
  expect([0, 2]).toContain(exitCode)
})

test('a program that ends of itself is a violation', async () => {
  const directory = files()
  const config = readFileSync(join(directory, 'counter.config.ts'), 'utf8').replace(
    'setInterval(',
    'setTimeout(() => process.exit(3), 1500); setInterval(',
  )
  writeFileSync(join(directory, 'counter.config.ts'), config)
  const { code, stdout } = await lastnail(directory, 'emulate', 'counter.config.ts', '--for', '3s', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'violated', kind: 'crash', message: 'reader ended with code 3' })
  expect(code).toBe(1)
})

describe('nothing is left', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('a run that is ended by %s leaves nothing', async signal => {
    const directory = files()
    const { run } = await begin(directory, '--for', '60s')
    await until(() => processesIn(directory).length > 2)
    run.kill(signal)
    await run
    await until(() => processesIn(directory).length === 0)
    // What is left of others is removed once in a process.
    await byItself(directory, 'emulate', 'counter.config.ts', '--for', '1s')
    expect(runDirectoriesOf(run.pid!)).toEqual([])
  })
})

describe('what is wrong is said before anything starts', () => {
  test.each([
    ['--topology', 'torn.graphml', /torn\.graphml/],
    ['--topology', 'negative.json', /delayMs/],
    ['--topology', 'apart.json', /there is no way from/],
    ['--topology', 'small.json', /cannot place "counter": the topology has a node of that name/],
    ['--churn', 'wrong.txt', /wrong\.txt: line 1: expected/],
    ['--for', 'ever', /expected a duration/],
  ])('%s %s', async (option, value, message) => {
    const stub = (id: string) => ({ id, role: 'stub' })
    const directory = files({
      'torn.graphml': '<graphml><graph edgedefault="undirected"><node id="a"/>',
      'negative.json': JSON.stringify({
        nodes: [stub('a'), stub('b')],
        links: [{ from: 'a', to: 'b', class: 'stub-stub', delayMs: -1 }],
      }),
      'apart.json': JSON.stringify({ nodes: [stub('a'), stub('b')], links: [] }),
      'small.json': JSON.stringify({ nodes: [stub('counter')], links: [] }),
      'wrong.txt': '1s counter explodes\n',
    })
    const { code, stderr } = await lastnail(directory, 'emulate', 'counter.config.ts', option, value)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(code).toBe(64)
  })

  test('more nodes than the machine has room for', async () => {
    const directory = files()
    const command = `ulimit -n 205; exec ${process.execPath} "$@"`
    const { exitCode, stderr } = await execa('sh', ['-c', command, 'sh', bin, 'emulate', 'counter.config.ts'], {
      cwd: directory,
      reject: false,
    })
    expect(stderr).toMatch(/this machine lacks open files: 208 are needed, 205 left; raise ulimit -n/)
    expect(exitCode).toBe(69)
  })

  test('a port that is taken is said before a run begins', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const { code, stderr } = await lastnail(files(), 'emulate', 'counter.config.ts', '--port', String(port))
    expect(stderr).toContain(`cannot listen on port ${port}: it is taken`)
    expect(code).toBe(64)
  })
})
