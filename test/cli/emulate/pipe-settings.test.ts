import { expect, test } from 'vitest'
import { actionSchema } from '../../../cli/emulate/asked.ts'
import { ConfigError, resolveSystem, type SystemDefinition } from '../../../harness/config/config.ts'
import { TopologyError } from '../../../topologies/error.ts'
import { checkTopology } from '../../../topologies/schema.ts'

const isTaken = (check: () => unknown): boolean => {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof ConfigError || error instanceof TopologyError) return false
    throw error
  }
}

/** Who takes these settings of a pipe. */
const takenBy = (pipe: object) => {
  const nodes = ['a', 'b'].map(id => ({ id, role: 'client' }))
  const links = [{ at: '1s', link: 'a', ...pipe }] as unknown as NonNullable<SystemDefinition['emulation']>['links']
  return {
    file: isTaken(() =>
      checkTopology({ nodes, links: [{ from: 'a', to: 'b', class: 'client-stub', delayMs: 1, ...pipe }] }),
    ),
    link: actionSchema.safeParse({ does: 'link', link: 'a', ...pipe }).success,
    set: actionSchema.safeParse({ does: 'set', ways: [{ from: 'a', to: 'b', pipe }] }).success,
    plan: isTaken(() =>
      resolveSystem(
        { name: 'ab', nodes: { a: { command: ['a'] }, b: { command: ['b'] } }, emulation: { links } },
        { directory: '/' },
      ),
    ),
  }
}

const all = { file: true, link: true, set: true, plan: true }
const none = { file: false, link: false, set: false, plan: false }

test.each([
  [{ delayMs: 2, jitterMs: 0.5, bandwidth: 1, loss: 0 }, all],
  [{ delayMs: -1 }, none],
  [{ bandwidth: 0.5 }, none],
  [{ loss: 1.5 }, none],
  [{ bandwidth: 1e6, queue: { packets: 10 } }, all],
  [{ bandwidth: 1e6, queue: { bytes: 1500, discipline: 'codel' } }, all],
  [{ bandwidth: 1e6, queue: { packets: 1.5 } }, none],
  [{ bandwidth: 1e6, queue: { packets: 100_001 } }, none],
  [{ bandwidth: 1e6, queue: { packets: 1, discipline: 'blue' } }, none],
  [{ bandwidth: 1e6, cross: { bandwidth: 1000, bytes: 100, burst: 100 } }, all],
  [{ bandwidth: 1e6, cross: { bandwidth: 1000, burst: 101 } }, none],
  [{ speed: 1 }, none],
])('a topology file, a plan and requests take the same settings of a pipe: %j', (pipe, expected) => {
  expect(takenBy(pipe)).toEqual(expected)
})
