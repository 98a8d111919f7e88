import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { commandOf, processesIn, runDirectoriesOf } from '../leftovers.ts'

const forever = ['check', 'adders.config.ts', '--property', 'atMostTwo', '--for', '10m', '--json']
const once = ['check', 'adders.config.ts', '--property', 'atMostTwo', '--executions', '1']

/** A check that goes on, with all its nodes up: three, or three for each of its workers. */
const begin = async (workers: number) => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  const tool = start(directory, [...forever, '--workers', String(workers)])
  onTestFinished(() => void tool.kill('SIGKILL'))
  const nodes = await until(
    () => processesIn(directory).filter(pid => pid !== tool.pid),
    pids => pids.length >= (workers === 1 ? 3 : 4 * workers),
  )
  const tools = [tool.pid!, ...nodes.filter(isTool)]
  return { directory, tool, tools }
}

test.each([
  ['SIGINT', 1],
  ['SIGINT', 2],
  ['SIGTERM', 1],
  ['SIGHUP', 1],
] as const)('%s with %i workers: a verdict, and nothing is left behind', async (signal, workers) => {
  const { directory, tool, tools } = await begin(workers)
  process.kill(tool.pid!, signal)
  const { exitCode, stdout, stderr } = await tool
  expect(exitCode).toBe(2)
  const { verdict, property, trace, sample, executions } = JSON.parse(String(stdout))
  expect({ verdict, property }).toEqual({ verdict: 'undetermined', property: null })
  // What was executed can be looked at.
  if (executions > 0) expect(readTrace(trace).end).toMatchObject({ verdict: { verdict: 'undetermined' } })
  expect(sample).toBe(trace)
  expect(stderr).toMatch(/^interrupted; no violation in \d+ executions?|^the budget was spent before one execution/)
  expect(processesIn(directory)).toEqual([])
  expect(tools.flatMap(runDirectoriesOf)).toEqual([])
})

test.each([1, 2])('kill -9 with %i workers: processes end, and the next start removes the files', async workers => {
  const { directory, tool, tools } = await begin(workers)
  tool.kill('SIGKILL')
  await tool
  await until(
    () => processesIn(directory),
    left => left.length === 0,
  )
  expect((await lastnail(directory, ...once)).code).toBe(0)
  expect(tools.flatMap(runDirectoriesOf)).toEqual([])
})

/** Whether it is a worker of the command, and not a node. */
const isTool = (pid: number) => commandOf(pid).includes('worker.js')

const until = async <Seen>(look: () => Seen, isEnough: (seen: Seen) => boolean): Promise<Seen> => {
  for (;;) {
    const seen = look()
    if (isEnough(seen)) return seen
    await sleep(20)
  }
}
