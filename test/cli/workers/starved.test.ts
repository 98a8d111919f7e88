import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { type CpuLook, Starvation } from '../../../cli/workers/starved.ts'
import { allowedCpus } from '../../../linux/affinity.ts'
import { command, copyOfFixtures } from '../lastnail.ts'
import { processesIn } from '../leftovers.ts'

interface Second {
  /** Of the worker and its nodes, in milliseconds. */
  readonly had: number
  readonly isReady?: boolean
  /** Of CPUs 0, 1 and 2, in milliseconds. */
  readonly idle: readonly number[]
}

/** What is said after each second. */
const after = (seconds: readonly Second[]): (number | undefined)[] => {
  const starvation = new Starvation(0, [0, 1, 2])
  let look: CpuLook = { ms: 0, hadMs: 0, isReady: true, idleMs: new Map([0, 1, 2].map(cpu => [cpu, 0])) }
  starvation.look(look)
  return seconds.map(({ had, isReady = true, idle }) => {
    const idleMs = new Map([...look.idleMs].map(([cpu, ms]) => [cpu, ms + idle[cpu]!]))
    look = { ms: look.ms + 1000, hadMs: look.hadMs + had, isReady, idleMs }
    return starvation.look(look)
  })
}

const times = (count: number, second: Second) => Array<Second>(count).fill(second)
const starved: Second = { had: 20, idle: [0, 300, 900] }

test('a worker that hardly runs for some seconds goes to the CPU that has least to do', () => {
  expect(after(times(6, starved))).toEqual([...Array(5).fill(undefined), 2])
})

test('it stays where all CPUs are as busy', () => {
  expect(after(times(20, { ...starved, had: 200, idle: [0, 50, 90] }))).toEqual(Array(20).fill(undefined))
})

test('where it has nothing at all it goes elsewhere, however busy that is', () => {
  expect(after(times(6, { ...starved, idle: [0, 50, 90] })).at(-1)).toBe(2)
})

test('what the kernel leaves beside a real-time program counts as nothing', () => {
  expect(after(times(6, { had: 52, idle: [0, 50, 90] })).at(-1)).toBe(2)
})

test('it does not go where somebody else has just come', () => {
  const second = (idle: readonly number[]): Second => ({ had: 20, idle })
  const others = [...times(5, second([0, 300, 900])), second([0, 300, 0])]
  expect(after(others).at(-1)).toBe(1)
})

test('it stays where it had its share now and then, or waits for something else than its CPU', () => {
  const now = [...times(5, starved), { ...starved, had: 600 }, ...times(5, starved)]
  expect(after(now)).toEqual(Array(11).fill(undefined))
  expect(after(times(20, { ...starved, isReady: false }))).toEqual(Array(20).fill(undefined))
})

const isRoot = process.getuid!() === 0

test.skipIf(!isRoot || allowedCpus().length < 2)(
  'beside a busy real-time program a check says what it could not do, and goes on on another CPU (needs root and two CPUs)',
  async () => {
    const { directory, remove } = copyOfFixtures()
    onTestFinished(remove)
    const [taken, other] = allowedCpus() as [number, number]
    const args = ['--property', 'atMostTwo', '--workers', '2', '--for', '11s', '--json']
    const onBoth = ['-c', `${taken},${other}`, process.execPath, command]
    const tool = execa('taskset', [...onBoth, 'check', 'adders.config.ts', ...args], { cwd: directory, reject: false })
    onTestFinished(() => void tool.kill('SIGKILL'))
    while (processesIn(directory).length < 6) await sleep(20)
    const busy = 'const end = Date.now() + 10_000; while (Date.now() < end);'
    const program = execa('taskset', ['-c', String(taken), 'chrt', '-f', '98', process.execPath, '-e', busy], {
      reject: false,
    })
    onTestFinished(() => void program.kill('SIGKILL'))
    const { exitCode, stdout, stderr } = await tool
    const { verdict, notes } = JSON.parse(stdout)
    expect([exitCode, verdict]).toEqual([0, 'held'])
    const said = new RegExp(
      `^other programs used .*CPU ${taken} for \\d+ s\\b.*: less was searched than this machine could`,
    )
    expect(notes).toContainEqual(expect.stringMatching(said))
    expect(stderr).toContain(`something else uses CPU ${taken}: a worker goes on on CPU ${other}`)
  },
)
