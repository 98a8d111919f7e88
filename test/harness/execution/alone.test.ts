import { expect, onTestFinished, test } from 'vitest'
import { Solo } from '../../../checker/cells/alone.ts'
import { Begin } from '../../../checker/searches/local/beginning.ts'
import { Budget } from '../../../checker/system/budget.ts'
import type { NodeSight, Sent } from '../../../checker/system/node-system.ts'
import { Random } from '../../../checker/system/random.ts'
import type { Checkpoint } from '../../../checker/system/system.ts'
import { loadConfig } from '../../../cli/config/load-config.ts'
import { Cluster } from '../../../harness/cluster.ts'
import { type GlobalState, resolveSystem } from '../../../harness/config/config.ts'
import { systemInTime } from '../../../harness/timed/timed-system.ts'
import type { Timing } from '../../../harness/timed/timing.ts'
import { meshTiming } from '../timed/mesh.ts'

const clusterOf = async (system: string, timing?: Timing): Promise<Cluster> => {
  const { definition, directory } = await loadConfig(`examples/corpus/${system}/lastnail.config.ts`)
  const resolved = resolveSystem(definition, { directory })
  const cluster = new Cluster(systemInTime(resolved, timing), { seed: 1, timing })
  onTestFinished(() => cluster.close())
  return cluster
}

/** Executes messages, timers, calls and, where asked for, restarts at random. Gives what was executed, and where that led. */
const walkAtRandom = async (
  cluster: Cluster,
  { seed, withRestarts, withClients = true }: { seed: number; withRestarts: boolean; withClients?: boolean },
): Promise<{ labels: string[]; state: GlobalState; enabled: readonly string[] }> => {
  const random = new Random(seed)
  const labels: string[] = []
  await cluster.reset()
  for (let step = 0; step < 40; step++) {
    const enabled = cluster
      .enabled()
      .filter(
        ({ kind, label }) =>
          ['deliver', 'timer'].includes(kind) ||
          (withClients && kind === 'client') ||
          (withRestarts && /^reset n\d+$/.test(label)),
      )
    if (enabled.length === 0) break
    const choice = random.pick(enabled)
    await cluster.execute(choice)
    labels.push(choice.label)
  }
  return { labels, state: cluster.state(), enabled: cluster.enabled().map(({ label }) => label) }
}

/** The same by each node alone. */
const walkAlone = async (
  cluster: Cluster,
  labels: readonly string[],
): Promise<{ begin: Begin; state: GlobalState }> => {
  const { nodes } = cluster
  const solo = new Solo(nodes)
  const begin = new Begin(nodes.names, labels)
  const sights = new Map<string, NodeSight>()
  for (let task = begin.next(); task; task = begin.next()) {
    const { last } = await solo.perform(task, 0, new Budget({}))
    sights.set(task.start.node, last!)
    begin.learn(last)
  }
  return { begin, state: nodes.join(nodes.names.map(name => sights.get(name)!.state)) }
}

// Over TCP a restart takes numbers: what is sent to a life that is over is numbered in one and not in the other.
const systems = { paxos: { withRestarts: true }, chord: { withRestarts: false }, randtree: { withRestarts: false } }

for (const [system, { withRestarts }] of Object.entries(systems))
  test(`each node of ${system} alone behaves as in the whole system, with the same labels`, async () => {
    const cluster = await clusterOf(system)
    for (const seed of [1, 2]) {
      const whole = await walkAtRandom(cluster, { seed, withRestarts })
      const { begin, state } = await walkAlone(cluster, whole.labels)
      expect(state.nodes).toEqual(whole.state.nodes)
      const deliverable = whole.enabled.filter(label => /^n\d+→n\d+ #/.test(label))
      expect(begin.before.inFlight.map(({ label }) => label)).toEqual(expect.arrayContaining(deliverable))
    }
  })

/** Over ways of different lengths. One node leaves and comes back. */
const timingFor = (names: readonly string[]): Timing => {
  const node = names.at(-1)!
  return meshTiming(names, way => ({ delayMs: 20 + 7 * way }), {
    events: [
      { atMs: 1500, does: 'leave', node, manner: 'kill' },
      { atMs: 2500, does: 'join', node },
    ],
    clocks: { [names[0]!]: { offsetMs: 40, driftPpm: 200 } },
  })
}

/** Executes what is due next, again and again. Gives what was executed, when, and where that led. */
const runInTime = async (cluster: Cluster, msMax: number) => {
  const labels: string[] = []
  const timesMs = [0]
  await cluster.reset()
  while (cluster.running.time!.nowMs < msMax) {
    const due = cluster.enabled().filter(choice => choice.due !== undefined)
    const next = due.toSorted((one, other) => one.due! - other.due!)[0]
    if (next === undefined) break
    await cluster.execute(next)
    labels.push(next.label)
    timesMs.push(cluster.running.time!.nowMs)
  }
  return { labels, timesMs, state: cluster.state() }
}

test.each(['brokentree', 'randtree', 'paxos'])(
  'after a recorded run, each node of %s alone has the clock that it had in the run',
  async system => {
    const first = await clusterOf(system)
    const timing = timingFor(first.nodes.names)
    const run = await runInTime(await clusterOf(system, timing), 4000)
    const searched = await clusterOf(system, { ...timing, timesMs: run.timesMs, isSearched: true })
    const { state } = await walkAlone(searched, run.labels)
    expect(run.labels).toEqual(
      expect.arrayContaining([expect.stringMatching(/^leave/), expect.stringMatching(/^join/)]),
    )
    expect(state.nodes).toEqual(run.state.nodes)
  },
)

/** What nodes alone come to that begin at a mark of the whole system and execute these labels. */
const goOnAlone = async (
  cluster: Cluster,
  mark: Checkpoint,
  labels: readonly string[],
): Promise<{ before: GlobalState; state: GlobalState; inFlight: string[]; repeated: boolean }> => {
  const { nodes } = cluster
  const systems = new Map(nodes.names.map(name => [name, nodes.alone(name)]))
  const sights = new Map<string, NodeSight>()
  for (const [name, node] of systems) sights.set(name, (await node.beginAt!(mark))!)
  const stateNow = () => nodes.join(nodes.names.map(name => sights.get(name)!.state))
  const before = stateNow()
  let inFlight = [...sights.values()].flatMap(({ sent }) => sent)
  let repeated = true
  for (const label of labels) {
    const deliver = inFlight.find(message => message.label === label)
    const name = deliver?.to ?? nodes.names.find(each => sights.get(each)!.enabled.some(own => own.label === label))!
    const node = systems.get(name)!
    const input = deliver ? { deliver } : { choice: label }
    // Each input is given twice, with the mark of the state before it in between.
    const own = node.mark!()!
    const first = (await node.enter(input)) as NodeSight
    expect(node.goBack!(own)).toBe(true)
    own.discard()
    const sight = (await node.enter(input)) as NodeSight
    repeated &&= sight.fingerprint === first.fingerprint
    sights.set(name, sight)
    inFlight = [...inFlight.filter(message => message !== deliver), ...sight.sent]
  }
  return { before, state: stateNow(), inFlight: inFlight.map(({ label }) => label), repeated }
}

for (const system of Object.keys(systems))
  test(`each node of ${system} alone goes on from a mark of the whole system, and back and on again`, async () => {
    const cluster = await clusterOf(system)
    const { labels } = await walkAtRandom(cluster, { seed: 3, withRestarts: false, withClients: false })
    const half = Math.floor(labels.length / 2)
    await cluster.reset()
    for (const label of labels.slice(0, half))
      await cluster.execute(cluster.enabled().find(choice => choice.label === label)!)
    const mark = (await cluster.mark())!
    const atHalf = cluster.state()
    for (const label of labels.slice(half))
      await cluster.execute(cluster.enabled().find(choice => choice.label === label)!)
    const whole = cluster.state()
    const deliverable = cluster.enabled().flatMap(({ kind, label }) => (kind === 'deliver' ? [label] : []))
    const alone = await goOnAlone(cluster, mark, labels.slice(half))
    expect(alone.before.nodes).toEqual(atHalf.nodes)
    expect(alone.state.nodes).toEqual(whole.nodes)
    expect(alone.inFlight).toEqual(expect.arrayContaining(deliverable))
    expect(alone.repeated).toBe(true)
    // The whole system is where it was.
    await cluster.restore(mark)
    expect(cluster.state().nodes).toEqual(atHalf.nodes)
    await mark.discard()
  })

test('of two messages that come together, none is put in flight where one cannot arrive', async () => {
  const { nodes } = await clusterOf('randtree')
  const joining = nodes.alone('n2')
  let sight = await joining.reset()
  while (sight.sent.length === 0) sight = (await joining.enter({ choice: sight.enabled[0]!.label })) as NodeSight
  const [open] = sight.sent as [Sent]
  expect(open).toMatchObject({ to: 'n3', isOfOpening: true })
  const ofNoConnection = { ...open, body: { ...(open.body as object), kind: 'data', number: 9 } }
  const alone = nodes.alone('n3')
  await alone.reset()
  expect(await alone.enter({ overlap: [{ deliver: open }, { deliver: ofNoConnection }] })).toBe(undefined)
  expect(await alone.enter({ deliver: open })).toMatchObject({ findings: [] })
  // The kernel would not answer a second request for a connection that it has.
  expect(await alone.enter({ deliver: open })).toBe(undefined)
})
