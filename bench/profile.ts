/** Where the time of a step goes: three node processes pass messages on over UDP, and each state is read as in a search. */
import { Session } from 'node:inspector/promises'
import { Executor } from '../checker/cells/executor.ts'
import { ringOf, start } from './ring.ts'
import { row } from './table.ts'

const steps = 5000
/** Parts of a step by the files that they are in; the first that matches counts. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['the nodes run, and the tool waits', /harness\/hold\/turns/],
  ['are all at rest?', /harness\/hold\/(quiescence|held-node|naps)|harness\/cell/],
  ['what threads stopped for', /harness\/hold\//],
  ['packets and messages', /proxy\//],
  ['choices', /harness\/choices/],
  ['states, output, fingerprints', /harness\//],
  ['the search', /checker\//],
]

interface Frame {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[]
}

/** For each sample, the part of its innermost function that belongs to one. */
const partsOf = (frames: readonly Frame[]): Map<number, string> => {
  const byId = new Map(frames.map(frame => [frame.id, frame]))
  const found = new Map<number, string>()
  const visit = (id: number, above: string): void => {
    const { callFrame, children = [] } = byId.get(id)!
    const isOurs = callFrame.url.includes('/dist/')
    const own = callFrame.functionName === '(garbage collector)' ? 'garbage collection' : above
    const part = isOurs ? (parts.find(([, files]) => files.test(callFrame.url))?.[0] ?? above) : own
    found.set(id, part)
    for (const child of children) visit(child, part)
  }
  visit(frames[0]!.id, 'other')
  return found
}

const cluster = ringOf('node, udp')
try {
  await start(cluster)
  const executor = new Executor(cluster, {})
  const go = async (count: number) => {
    for (let step = 0; step < count; step++) {
      const enabled = executor.enabled()
      await executor.execute(enabled[step % enabled.length]!)
    }
  }
  await go(1000)
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.post('Profiler.start')
  const begun = performance.now()
  await go(steps)
  const microseconds = (1000 * (performance.now() - begun)) / steps
  const { profile } = await session.post('Profiler.stop')
  const partOf = partsOf(profile.nodes as unknown as readonly Frame[])
  const taken = new Map<string, number>()
  const deltas = profile.timeDeltas!
  for (const [index, id] of profile.samples!.entries()) {
    const part = partOf.get(id)!
    taken.set(part, (taken.get(part) ?? 0) + deltas[index]!)
  }
  const all = [...taken.values()].reduce((sum, each) => sum + each, 0)
  row('a step, sampled', microseconds.toFixed(0), 'µs')
  for (const [part, time] of [...taken].toSorted(([, one], [, other]) => other - one))
    row(`  ${part}`, ((100 * time) / all).toFixed(1), '%')
} finally {
  cluster.close()
}
