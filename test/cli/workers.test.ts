import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, lastnail, start } from './lastnail.ts'
import { commandOf } from './leftovers.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

const check = (...args: readonly string[]) => lastnail(directory, 'check', 'adders.config.ts', '--json', ...args)

test('what workers find is recorded', async () => {
  const { code, stdout } = await check('--property', 'noUpdateLost', '--workers', '2', '--for', '10m', '--out', 'found')
  expect(code).toBe(1)
  const outcome = JSON.parse(stdout)
  expect(outcome).toMatchObject({ verdict: 'violated', property: 'noUpdateLost', seed: 1, repeated: true })
  expect((await lastnail(directory, 'replay', outcome.trace)).code).toBe(1)
})

test.each([
  ['atMostTwo', ['--executions', '24']],
  ['noUpdateLost', ['--executions', '24']],
  ['atMostTwo', ['--search', 'bounded', '--depth', '3']],
])('the verdict on %s with %o is the same with any number of workers', async (property, options) => {
  const verdicts = []
  for (const workers of ['1', '2', '3']) {
    const { stdout } = await check('--property', property, ...options, '--workers', workers)
    const { seconds: _, stepsPerSecond: __, trace: ___, report: ____, ...verdict } = JSON.parse(stdout)
    verdicts.push(verdict)
  }
  expect(verdicts[1]).toEqual(verdicts[0])
  expect(verdicts[2]).toEqual(verdicts[0])
})

test('what a worker does that is killed is done again', async () => {
  const args = ['--property', 'atMostTwo', '--executions', '40', '--workers', '2']
  const tool = start(directory, ['check', 'adders.config.ts', '--json', ...args])
  const worker = await until(() => childrenOf(tool.pid!).find(pid => isWorker(pid) && childrenOf(pid).length > 0))
  process.kill(worker, 'SIGKILL')
  const { exitCode, stdout, stderr } = await tool
  expect(String(stderr)).toContain('lastnail: a worker ended by SIGKILL; what it did is done again')
  expect(exitCode).toBe(0)
  const undisturbed = JSON.parse((await check(...args)).stdout)
  const { seconds: _, stepsPerSecond: __, ...verdict } = JSON.parse(String(stdout))
  expect(undisturbed).toMatchObject(verdict)
})

const isWorker = (pid: number) => commandOf(pid).includes('worker.js')

const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return [] // it has ended
  }
}

const until = async <Seen>(look: () => Seen | undefined): Promise<Seen> => {
  for (;;) {
    const seen = look()
    if (seen !== undefined) return seen
    await sleep(5)
  }
}
