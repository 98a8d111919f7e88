import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { describeProcess, processesIn, runDirectoriesOf } from '../leftovers.ts'

/**
 * A signal ends every command at once, whatever its nodes do: a step blocks the event loop, and may take 60 s of the CPU
 * time of its nodes. On a machine with ten programs for each CPU, what ends at once takes some seconds.
 */
const endMsMax = 15_000

/** A check finds within seconds that a node spins in a few instructions. What this does it finds after `stepLimit`. */
const compute = `
    const { createHash } = require('node:crypto')
    for (let last = ''; ; ) last = createHash('sha256').update(last).digest('hex')`

/** What the nodes do from their start on, or, where there is a file `go`, in a step. */
const nodes = {
  'spins at its start': `while (true);`,
  'computes at its start': compute,
  'spins in a step': `setTimeout(() => { while (true); }, 100); setInterval(() => {}, 50)`,
  'computes in its start, and sleeps now and then': `
    const until = Date.now() + 1e9
    const go = () => { for (let i = 0; i < 1e8; i++); setTimeout(go, 20) }
    go()`,
  'ignores what asks it to end': `
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
    setInterval(() => {}, 20)`,
  'has threads that compute': `
    const { Worker } = require('node:worker_threads')
    for (let i = 0; i < 3; i++) new Worker(${JSON.stringify(compute)}, { eval: true })
    ${compute}`,
}

const config = `
  import { always, defineSystem } from 'lastnail'
  const node = { command: ['node', 'busy.cjs'] }
  export default defineSystem({
    name: 'busy', nodes: { a: node, b: node }, stepLimit: 60_000, properties: { holds: always(() => true) },
  })`

const begin = (behaviour: string, ...args: readonly string[]) => {
  const { directory, remove } = copyOfFixtures({ 'busy.config.ts': config, 'busy.cjs': behaviour })
  onTestFinished(remove)
  const tool = start(directory, args)
  onTestFinished(() => void tool.kill('SIGKILL'))
  return { directory, tool }
}

/** Until a command has so many processes, and one of them is in the middle of its step. */
const untilBusy = async ({ directory, tool }: ReturnType<typeof begin>, atLeast: number): Promise<void> => {
  while (processesIn(directory).length < atLeast) {
    if (tool.exitCode !== null) throw new Error(`it ended before it had ${atLeast} processes: ${await said(tool)}`)
    await sleep(20)
  }
  await sleep(600)
}

const said = async (tool: ReturnType<typeof start>): Promise<string> => {
  const { exitCode, stdout, stderr } = await tool
  return `${exitCode} ${stderr} ${stdout}`
}

/** How long a command goes on after a signal; nothing of it is left then. */
const endAfter = async (
  begun: ReturnType<typeof begin>,
  signal: NodeJS.Signals,
  atLeast: number,
): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> => {
  await untilBusy(begun, atLeast)
  const { directory, tool } = begun
  const asked = performance.now()
  process.kill(tool.pid!, signal)
  const ended = await Promise.race([tool, sleep(60_000)])
  if (ended === undefined) throw new Error(`it goes on: ${processesIn(directory).map(describeProcess).join('; ')}`)
  const { exitCode, stdout, stderr } = ended
  expect(performance.now() - asked).toBeLessThan(endMsMax)
  expect(processesIn(directory)).toEqual([])
  expect(runDirectoriesOf(tool.pid!)).toEqual([])
  return { exitCode, stdout: String(stdout), stderr: String(stderr) }
}

test.each(Object.keys(nodes) as (keyof typeof nodes)[])('check ends where a node %s', async behaviour => {
  const checking = begin(nodes[behaviour], 'check', 'busy.config.ts', '--for', '10m', '--workers', '1', '--json')
  const { exitCode, stdout, stderr } = await endAfter(checking, 'SIGTERM', 2)
  expect(exitCode, `${stdout}\n${stderr}`).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'undetermined' })
})

const checkWithWorkers = (behaviour: keyof typeof nodes) =>
  begin(nodes[behaviour], 'check', 'busy.config.ts', '--for', '10m', '--workers', '2', '--json')

// Whether a worker is about to look after a signal when it comes is chance: several tries.
test.each([1, 2, 3])('check with workers ends where threads of nodes compute on every CPU, try %i', async () => {
  const checking = checkWithWorkers('has threads that compute')
  // Until all of them do.
  await sleep(2500)
  const { exitCode } = await endAfter(checking, 'SIGINT', 5)
  expect(exitCode).toBe(2)
})

test.each(['SIGINT', 'SIGHUP'] as const)('check with workers ends after %s', async signal => {
  const checking = checkWithWorkers('computes at its start')
  const { exitCode, stdout } = await endAfter(checking, signal, 5)
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([2, { verdict: 'undetermined' }])
})

test('workers end where the command is killed while nodes compute at their start', async () => {
  const checking = checkWithWorkers('computes at its start')
  await untilBusy(checking, 5)
  const { directory, tool } = checking
  process.kill(tool.pid!, 'SIGKILL')
  const begun = performance.now()
  while (processesIn(directory).length > 0 && performance.now() - begun < endMsMax) await sleep(100)
  expect(processesIn(directory)).toEqual([])
})

test.each([
  ['spins at its start', 'native'],
  ['spins at its start', 'virtual'],
  ['ignores what asks it to end', 'native'],
  ['ignores what asks it to end', 'real'],
] as const)('emulate ends where a node %s, at the pace %s', async (behaviour, pace) => {
  const running = begin(nodes[behaviour], 'emulate', 'busy.config.ts', '--pace', pace, '--for', '10m', '--json')
  const { exitCode, stdout } = await endAfter(running, 'SIGINT', 3)
  const { verdict, message } = JSON.parse(stdout)
  expect([exitCode, verdict]).toEqual([2, 'undetermined'])
  // On a busy machine the signal comes while nodes begin.
  expect(message).toMatch(/^(interrupted after|nothing was looked at)/)
})

test('commands that execute a trace end while one of its nodes spins', { timeout: 120_000 }, async () => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  const args = ['adders.config.ts', '--property', 'neverWritten', '--search', 'walk', '--executions', '5', '--json']
  const { stdout } = await lastnail(directory, 'check', ...args)
  const { trace } = JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1))
  writeFileSync(join(directory, 'adder.js'), 'while (true);')
  for (const command of ['replay', 'shrink', 'serve', 'debug']) {
    const tool = start(directory, [command, trace])
    onTestFinished(() => void tool.kill('SIGKILL'))
    const { exitCode } = await endAfter({ directory, tool }, 'SIGINT', 2)
    // On a busy machine the node has computed for longer than a step may take when the signal comes.
    expect([2, 3], command).toContain(exitCode)
  }
})

test('a debugger ends in the middle of a command', { timeout: 120_000 }, async () => {
  const slow = `
    const { existsSync } = require('node:fs')
    setInterval(() => { while (existsSync('spin')); }, 20)`
  const { directory, remove } = copyOfFixtures({
    'busy.config.ts': config.replace('() => true', `s => s.nodes.every(n => n.alive)`),
    'busy.cjs': slow,
  })
  onTestFinished(remove)
  const crashing = config
    .replace('() => true', 's => s.nodes.every(n => n.alive)')
    .replace('stepLimit', 'faults: { crash: 1 }, stepLimit')
  writeFileSync(join(directory, 'busy.config.ts'), crashing)
  const { stdout } = await lastnail(
    directory,
    'check',
    'busy.config.ts',
    '--search',
    'walk',
    '--executions',
    '20',
    '--workers',
    '1',
    '--json',
  )
  const { trace, schedule } = JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1))
  expect(existsSync(trace)).toBe(true)
  const tool = start(directory, ['debug', trace], { stdin: 'pipe' })
  onTestFinished(() => void tool.kill('SIGKILL'))
  await once(tool.stdout!, 'data')
  writeFileSync(join(directory, 'spin'), '')
  tool.stdin!.write('choices\ntake 1\ntake 1\ntake 1\n')
  expect((await endAfter({ directory, tool }, 'SIGTERM', 2)).exitCode).toBe(0)
  expect(schedule.length).toBeGreaterThan(0)
})
