import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, start } from './lastnail.ts'
import { processesIn } from './leftovers.ts'

const begin = (executions: number) => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  const args = ['--property', 'atMostTwo', '--executions', String(executions), '--workers', '1', '--json']
  const tool = start(directory, ['check', 'adders.config.ts', ...args])
  onTestFinished(() => void tool.kill('SIGKILL'))
  return { directory, tool }
}

const outcomeOf = async ({ tool }: ReturnType<typeof begin>) => {
  const { exitCode, stdout, stderr } = await tool
  const { seconds: _, stepsPerSecond: __, ...outcome } = JSON.parse(String(stdout))
  return { exitCode, outcome, stderr: String(stderr) }
}

test('two checks at once do not disturb each other', async () => {
  const [one, other] = await Promise.all([outcomeOf(begin(60)), outcomeOf(begin(60))])
  expect(one).toMatchObject({ exitCode: 0, outcome: { verdict: 'held', executions: 60 } })
  expect(other.outcome).toEqual(one.outcome)
})

test('nodes that somebody kills are no violation: what does not repeat is said, and decides nothing', async () => {
  const check = begin(400)
  let over = false
  const outcome = outcomeOf(check).finally(() => (over = true))
  let killed = 0
  while (!over) {
    const [node] = processesIn(check.directory).filter(pid => pid !== check.tool.pid)
    if (node !== undefined && killed < 5) {
      process.kill(node, 'SIGKILL')
      killed += 1
    }
    await sleep(100)
  }
  const { exitCode, outcome: found, stderr } = await outcome
  expect(killed).toBe(5)
  expect({ exitCode, verdict: found.verdict }).toEqual({ exitCode: 2, verdict: 'undetermined' })
  expect(stderr).toMatch(/^what was found does not repeat: crash of \w+ .* was killed by signal 9/)
  expect(processesIn(check.directory)).toEqual([])
})
