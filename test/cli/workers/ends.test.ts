import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { always } from '../../../checker/system/property.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { childrenOf, isWorker } from '../leftovers.ts'

/** As they were built, for a worker is a program of its own. */
const built = (name: string) => import(join(import.meta.dirname, `../../../dist/${name}.js`))
const { Worker }: typeof import('../../../cli/workers/workers.ts') = await built('cli/workers/workers')
const { poll }: typeof import('../../../linux/ptrace.ts') = await built('linux/ptrace')
const { checkInCells }: typeof import('../../../checker/check.ts') = await built('checker/check')

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

test('the work of a killed worker is done again', async () => {
  const args = ['--property', 'atMostTwo', '--executions', '40', '--workers', '2']
  const tool = start(directory, ['check', 'adders.config.ts', '--json', ...args])
  const worker = await until(() => childrenOf(tool.pid!).find(pid => isWorker(pid) && childrenOf(pid).length > 0))
  process.kill(worker, 'SIGKILL')
  const { exitCode, stdout, stderr } = await tool
  expect(String(stderr)).toContain('lastnail: a worker ended by SIGKILL; what it did is done again')
  expect(exitCode).toBe(0)
  const undisturbed = JSON.parse((await lastnail(directory, 'check', 'adders.config.ts', '--json', ...args)).stdout)
  // How long it took, which CPUs others used meanwhile, and where the sample is, differs.
  const {
    seconds: _,
    stepsPerSecond: __,
    notes: ___,
    sample: ____,
    report: _____,
    ...verdict
  } = JSON.parse(String(stdout))
  expect(undisturbed).toMatchObject(verdict)
})

test('a worker whose end something else has taken, which waits for any child, is over all the same', async () => {
  const worker = new Worker(
    { file: join(directory, 'adders.config.ts'), seed: 1, clocksStart: '2026-01-01T00:00:00Z', cpu: 0 },
    [0],
  )
  const pid = await until(() => childrenOf(process.pid).find(isWorker))
  process.kill(pid, 'SIGKILL')
  while (poll(pid) === undefined);
  await worker.end()
})

test('a stopped worker holds up nothing for long, and its work is done again', async () => {
  const args = ['--property', 'atMostTwo', '--executions', '40', '--workers', '2']
  const tool = start(directory, ['check', 'adders.config.ts', '--json', ...args])
  onTestFinished(() => void tool.kill('SIGKILL'))
  const worker = await until(() => childrenOf(tool.pid!).find(pid => isWorker(pid) && childrenOf(pid).length > 0))
  process.kill(worker, 'SIGSTOP')
  onTestFinished(() => killIfThere(worker))
  const { exitCode, stdout, stderr } = await tool
  expect(String(stderr)).toContain('lastnail: a worker ended by SIGKILL; what it did is done again')
  expect([exitCode, JSON.parse(String(stdout))]).toMatchObject([0, { verdict: 'held', executions: 40 }])
})

test('a stopped worker does not keep a check from ending in time', async () => {
  const tool = start(directory, ['check', 'adders.config.ts', '--json', '--for', '3s', '--workers', '2'])
  onTestFinished(() => void tool.kill('SIGKILL'))
  const stopped = new Set<number>()
  // Each of them, and all that come after: none ever answers.
  const stopping = setInterval(() => {
    for (const pid of childrenOf(tool.pid!).filter(isWorker)) {
      process.kill(pid, 'SIGSTOP')
      stopped.add(pid)
    }
  }, 20)
  onTestFinished(() => {
    clearInterval(stopping)
    for (const pid of stopped) killIfThere(pid)
  })
  const { exitCode, stdout, stderr } = await tool
  expect([exitCode, JSON.parse(String(stdout))]).toMatchObject([2, { verdict: 'undetermined', executions: 0 }])
  expect(String(stderr)).toContain('the budget was spent before one execution was done')
})

/** Ends whatever worker evaluates it, where `b` is done before `a`. */
const deadly = `
  import { always, defineSystem } from 'lastnail'
  import adders from './adders.config.ts'
  const isDone = (state, name) => state.node(name).state?.done === true
  const deadly = always(state => {
    if (process.send && isDone(state, 'b') && !isDone(state, 'a')) process.kill(process.pid, 'SIGKILL')
    return true
  })
  export default defineSystem({ ...adders, name: 'deadly', properties: { deadly } })`

test('a task that kills each worker does not count, and the others do', async () => {
  const copy = copyOfFixtures({ 'deadly.config.mjs': deadly })
  onTestFinished(copy.remove)
  const args = ['deadly.config.mjs', '--json', '--workers', '2', '--executions', '6']
  const { code, stdout, stderr } = await lastnail(copy.directory, 'check', ...args)
  const { verdict, executions } = JSON.parse(stdout)
  expect([code, verdict, executions]).toEqual([0, 'held', 6])
  expect(stderr).toMatch(/; [1-5] do not count: a worker ended by SIGKILL with it, 3 times$/)
})

/** Once, where `b` is done before `a`, the thread of whatever worker evaluates it blocks for ever after that. */
const hanging = (flag: string) => `
  import { existsSync, writeFileSync } from 'node:fs'
  import { always, defineSystem } from 'lastnail'
  import adders from './adders.config.ts'
  const isDone = (state, name) => state.node(name).state?.done === true
  const hanging = always(state => {
    if (process.send && isDone(state, 'b') && !isDone(state, 'a') && !existsSync('${flag}')) {
      writeFileSync('${flag}', '')
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    }
    return true
  })
  export default defineSystem({ ...adders, name: 'hanging', properties: { hanging } })`

test('a worker that hangs by itself is ended in time: the check goes on, says so, and what others do counts', async () => {
  const copy = copyOfFixtures()
  onTestFinished(copy.remove)
  const file = join(copy.directory, 'hanging.config.mjs')
  writeFileSync(file, hanging(join(copy.directory, 'hung')))
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => void said.mockRestore())
  const order = { file, seed: 1, clocksStart: '2026-01-01T00:00:00Z' }
  const cells = [0, 1].map(cpu => new Worker({ ...order, cpu }, [0, 1], { taskMs: 4_000, stepMs: 1_000 }))
  const { verdict, executions, coverage } = await checkInCells(
    cells,
    { hanging: always(() => true) },
    { executions: 20 },
  )
  await Promise.all(cells.map(cell => cell.end()))
  expect([verdict, executions, coverage.unfaithful > 0]).toEqual(['held', 20, true])
  expect(said).toHaveBeenCalledWith(
    'lastnail: a worker ended because it did not answer any more; what it did is done again\n',
  )
})

const killIfThere = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended
  }
}

const until = async <Seen>(look: () => Seen | undefined): Promise<Seen> => {
  for (;;) {
    const seen = look()
    if (seen !== undefined) return seen
    await sleep(5)
  }
}
