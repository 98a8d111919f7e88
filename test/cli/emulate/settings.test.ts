import { describe, expect, it } from 'vitest'
import { emulationOf } from '../../../cli/emulate/settings.ts'
import { defineSystem, type EmulationDefinition, resolveSystem } from '../../../harness/config/config.ts'

const names = ['tracker', 'n1', 'n2', 'n3', 'n4']
const settingsOf = (emulation: EmulationDefinition, seed = 1) => {
  const nodes = Object.fromEntries(names.map(name => [name, { command: ['sleep', '1000'] }]))
  const system = resolveSystem(defineSystem({ name: 'settings', nodes, emulation }), { directory: '/' })
  return emulationOf(system, '/', { seed })
}
const churn = { kind: 'poisson', joinsPerMinute: 30, leavesPerMinute: 30 } as const

describe('churn', () => {
  it('spares those whom it is told to spare: they are there from the start, and stay', () => {
    const plan = settingsOf({ churn: { ...churn, except: ['n4'], atLeast: 3 }, initial: 3, for: '10m' }).churn
    expect(plan.initial).toEqual(['tracker', 'n1', 'n2', 'n4'])
    const moved = new Set(plan.events.flatMap(event => ('node' in event ? [event.node] : [])))
    expect(moved).toEqual(new Set(['tracker', 'n1', 'n2', 'n3']))
    let there = plan.initial.length
    for (const { does } of plan.events) {
      there += does === 'join' ? 1 : -1
      expect(there).toBeGreaterThanOrEqual(3)
    }
  })

  it('is as it was where it spares nobody', () => {
    expect(settingsOf({ churn: { ...churn, except: [] } }).churn).toEqual(settingsOf({ churn }).churn)
  })
})

describe('what is refused', () => {
  it.each([
    [{ churn: { ...churn, except: ['nobody'] } }, 'emulation.churn.except: there is no node "nobody"'],
    [{ place: { nobody: 'stub' } }, 'emulation.place.nobody: expected one of the nodes (tracker, n1'],
    [{ place: { n1: 'stub' } }, 'emulation.place: expected a topology, in which nodes have places'],
    [{ place: { n1: 'anywhere' as 'stub' } }, "expected 'stub', 'transit', 'router 17' or 'client of AS 17'"],
    [
      { churn: { ...churn, except: 'tracker' as unknown as string[] } },
      "emulation.churn[0]: expected a file, or a model of churn: { kind: 'poisson'",
    ],
  ] satisfies [EmulationDefinition, string][])('%j', (emulation, message) => {
    expect(() => settingsOf(emulation)).toThrow(message)
  })
})
