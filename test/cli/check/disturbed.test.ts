import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, ofQuietMachine, start } from '../lastnail.ts'
import { commandOf, processesIn } from '../leftovers.ts'

const begin = (executions: number, command = 'check') => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  const args = ['--property', 'atMostTwo', '--executions', String(executions), '--workers', '1', '--json']
  const tool = start(directory, [command, 'adders.config.ts', ...args])
  onTestFinished(() => void tool.kill('SIGKILL'))
  return { directory, tool }
}

const outcomeOf = async ({ tool }: ReturnType<typeof begin>) => {
  const { exitCode, stdout, stderr } = await tool
  if (stdout === '') throw new Error(`${exitCode} ${stderr}`)
  const { seconds: _, stepsPerSecond: __, sample: ___, report: ____, ...outcome } = JSON.parse(String(stdout))
  return { exitCode, outcome: { ...outcome, notes: ofQuietMachine(outcome.notes) }, stderr: String(stderr) }
}

test('two checks at once do not disturb each other', async () => {
  const [one, other] = await Promise.all([outcomeOf(begin(60)), outcomeOf(begin(60))])
  expect(one).toMatchObject({ exitCode: 0, outcome: { verdict: 'held', executions: 60 } })
  expect(other.outcome).toEqual(one.outcome)
})

test('executions in which somebody kills a node do not count', { timeout: 300_000 }, async () => {
  const check = begin(400)
  const { exitCode, outcome: found, stderr } = await outcomeWithKills(check, 5)
  expect({ exitCode, ...found }).toMatchObject({ exitCode: 0, verdict: 'held', executions: 400 })
  expect(stderr).toMatch(/; [1-5] do not count: \w+ was killed by somebody else$/)
  expect(processesIn(check.directory)).toEqual([])
})

test('a campaign does them again, so its counts stay the same', { timeout: 300_000 }, async () => {
  const { outcome: undisturbed } = await outcomeOf(begin(80, 'campaign'))
  const { exitCode, outcome } = await outcomeWithKills(begin(80, 'campaign'), 2)
  expect(exitCode).toBe(0)
  const { notes, ...counted } = outcome
  expect({ ...counted, notes: undisturbed.notes }).toEqual(undisturbed)
  // A node may be killed while it is brought back, between two executions: that is said, and none has to be done again.
  const ofKill = /^\w+: a life of it could not be rewound, and was started anew: (it|a thread) has ended$/
  for (const note of notes) expect(note).toMatch(ofKill)
})

/** The outcome of a command of which so many nodes are killed, one after another. */
const outcomeWithKills = async (command: ReturnType<typeof begin>, killsMax: number) => {
  let over = false
  const outcome = outcomeOf(command).finally(() => (over = true))
  for (let killed = 0; !over; await sleep(100)) {
    const [node] = nodesIn(command.directory)
    if (node === undefined || killed === killsMax) continue
    process.kill(node, 'SIGKILL')
    killed += 1
  }
  return outcome
}

/** Those that run its programs. */
const nodesIn = (directory: string): number[] =>
  processesIn(directory).filter(pid => /^\S*node\0(?:adder|store)\.js\0/.test(commandOf(pid)))
