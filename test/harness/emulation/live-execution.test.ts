import { expect, onTestFinished, test } from 'vitest'
import { due } from '../../../checker/choosers/due.ts'
import { StepReader } from '../../../cli/traces/step-reader.ts'
import { Cluster } from '../../../harness/cluster.ts'
import { jsonLines, resolveSystem } from '../../../harness/config/config.ts'
import { LiveExecution } from '../../../harness/steering/live-execution.ts'
import { Predictor } from '../../../harness/steering/predictor.ts'
import { systemInTime } from '../../../harness/timed/timed-system.ts'
import { meshTiming } from '../timed/mesh.ts'

/** Says what it hears, and what its clock shows then; another thread says so ten times a second. */
const ticking = `
import json, os, socket, threading, time
hearing = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
hearing.bind(('0.0.0.0', 7000))
begun = time.time()
heard = []
def say(what):
    heard.append((what, round(time.time() - begun, 3)))
    print(json.dumps({'heard': heard}), flush=True)
def tick():
    while True:
        time.sleep(0.1)
        say('tick')
threading.Thread(target=tick, daemon=True).start()
if os.environ.get('PEER'):
    hearing.sendto(b'hello', (os.environ['PEER'], 7000))
while True:
    say(hearing.recv(100).decode())
    if os.environ.get('PEER'):
        hearing.sendto(b'hello', (os.environ['PEER'], 7000))
`
const command = ['python3', '-c', ticking]

const liveExecution = async () => {
  const system = resolveSystem(
    {
      name: 'ticking',
      nodes: { a: { command }, b: { command, env: { PEER: '{{a.address}}' } } },
      state: jsonLines('stdout'),
      properties: {},
    },
    { directory: import.meta.dirname },
  )
  const timing = meshTiming(['a', 'b'], () => ({ delayMs: 10 }))
  const cluster = new Cluster(systemInTime(system, timing), { seed: 1, timing })
  onTestFinished(() => cluster.close())
  const told: string[] = []
  const live = new LiveExecution(cluster, system, {
    reader: new StepReader(cluster, {}),
    tell: ({ choice }) => told.push(`${cluster.running.time!.nowMs} ${choice?.label}`),
    outside: undefined,
    marks: 'on request',
  })
  await live.begin()
  return { cluster, system, live, told }
}

const executeNext = async (live: LiveExecution) => live.execute(due(live.enabled())!)

test.each([
  ['that can be marked', () => undefined],
  ['that cannot be marked', (cluster: Cluster) => (cluster.mark = async () => undefined)],
])('of a late run %s, a step is taken back, with what was requested before', { timeout: 60_000 }, async (_, spoil) => {
  const { cluster, live, told } = await liveExecution()
  spoil(cluster)
  const outputs = () => cluster.state().nodes.map(({ state }) => state)
  cluster.running.time!.ask({ does: 'reboot', node: 'b' })
  cluster.running.lookAgain()
  for (let step = 0; step < 6; step++) {
    cluster.running.time!.pass(cluster.running.time!.nowMs + 250.5)
    const marked = outputs()
    await live.markHere()
    expect(outputs()).toEqual(marked)
    await executeNext(live)
    live.accept()
  }
  expect([...cluster.checkpoints.reasons]).toEqual([])
  const before = { outputs: outputs(), labels: live.labels, told: [...told] }
  await executeNext(live)
  expect(outputs()).not.toEqual(before.outputs)
  await live.takeBack()
  expect({ outputs: outputs(), labels: live.labels, told }).toEqual(before)
})

test('a state of a late run that is lost while it is marked for a prediction is executed as it was', {
  timeout: 60_000,
}, async () => {
  const { cluster, system, live } = await liveExecution()
  const outputs = () => cluster.state().nodes.map(({ state }) => state)
  cluster.running.time!.ask({ does: 'reboot', node: 'b' })
  cluster.running.lookAgain()
  for (let step = 0; step < 6; step++) {
    cluster.running.time!.pass(cluster.running.time!.nowMs + 250.5)
    await executeNext(live)
    live.accept()
  }
  const before = {
    outputs: outputs(),
    labels: live.labels,
    enabled: live.enabled(),
    nowMs: cluster.running.time!.nowMs,
  }
  const limits = { inputsMax: 5, transitionsMax: 100, isSteered: false, signal: new AbortController().signal }
  const predictor = new Predictor(cluster, system, limits)
  process.kill(cluster.debugging.pidOf('a')!, 'SIGKILL')
  const outcome = await predictor.look(live.mark(), live.soFar)
  expect(outcome.foreseen).toEqual([])
  expect(predictor.counts).toMatchObject({ rounds: 0, unmarked: 1 })
  expect({
    outputs: outputs(),
    labels: live.labels,
    enabled: live.enabled(),
    nowMs: cluster.running.time!.nowMs,
  }).toEqual(before)
})
