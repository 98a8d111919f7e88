import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { check } from '../../checker/check.ts'
import { always, eventually } from '../../checker/system/property.ts'
import type { Choice } from '../../checker/system/system.ts'
import { HandlerSystem, nodesOf } from './systems/handlers.ts'
import { Model, type Transition } from './systems/model.ts'
import { agreement, paxos } from './systems/paxos.ts'

/** So many calls, each of which a node answers; with the last answer the node ends. */
const shop = (calls: number) => {
  const model = new Model({ left: calls, asked: 0, answered: 0 }, ({ left, asked, answered }) => {
    const call: Transition<typeof state> = {
      ...{ kind: 'client', node: 'client ann', label: 'client ann' },
      next: () => ({ left: left - 1, asked: asked + 1, answered }),
    }
    const answer: Transition<typeof state> = {
      ...{ kind: 'deliver', node: 'n', label: `ann→n #${answered + 1} ask` },
      next: () => ({ left, asked: asked - 1, answered: answered + 1 }),
      findings: answered + 1 === calls ? [{ kind: 'crash', node: 'n', message: 'its last words' }] : [],
    }
    const state = { left, asked, answered }
    return [...(asked > 0 ? [answer] : []), ...(left > 0 ? [call] : [])]
  })
  return Object.assign(model, { isCalling: () => model.state().asked > 0 })
}

describe('the straight way', () => {
  it.each([
    ['an eventually that holds at the start', { open: eventually(() => true) }],
    ['an always', { open: always(() => true) }],
  ])('goes to the end of all calls, with %s', async (_, properties) => {
    expect(await check(shop(2), properties, { executions: 1 })).toMatchObject({
      ...{ verdict: 'violated', kind: 'crash' },
      discovery: { by: 'straight', execution: 1, steps: 4 },
    })
  })

  it('is as long as the calls take, and no walk is longer for it', async () => {
    const { discovery } = await check(shop(100), { open: eventually(() => true) }, { executions: 1 })
    expect(discovery).toMatchObject({ by: 'straight', steps: 200 })
  })

  it('takes timers in the order of one clock, once nothing is in flight', async () => {
    const labels = ['n timer +30ms', 'n timer +20ms', 'm→n #2 late', 'm→n #1 early', 'client ann']
    const kinds = ['timer', 'timer', 'deliver', 'deliver', 'client'] as const
    const all = labels.map((label, index) => ({
      ...{ kind: kinds[index]!, node: 'n', label, afterMs: index === 0 ? 30 : 20 },
    }))
    const taken: string[] = []
    const system = new Model<string[]>([], done =>
      all.filter(({ label }) => !done.includes(label)).map(each => ({ ...each, next: () => [...done, each.label] })),
    )
    const observer = { onStep: ({ choice }: { choice: { label: string } }) => void taken.push(choice.label) }
    await check(system, {}, { executions: 1, observer })
    expect(taken).toEqual(['client ann', 'm→n #2 late', 'm→n #1 early', 'n timer +20ms', 'n timer +30ms'])
  })
})

describe('where one execution would take longer than the check', () => {
  /** Each step takes 20 ms and leads to a new state. */
  const slow = () => {
    const model = new Model(0, steps => [{ kind: 'timer', node: 'n', label: 'n timer', next: () => steps + 1 }])
    const execute = model.execute.bind(model)
    return Object.assign(model, {
      execute: async (choice: Choice) => {
        await setTimeout(20)
        return execute(choice)
      },
    })
  }

  it('what was done of it is judged and shown', async () => {
    const found = await check(slow(), { ends: eventually((steps: number) => steps < 0) }, { milliseconds: 2_000 })
    expect(found).toMatchObject({ verdict: 'undetermined', property: 'ends' })
    expect(found.schedule.length).toBeGreaterThan(0)
  })
})

describe('nothing executed is never held', () => {
  it('a check in which nothing can happen is not held', async () => {
    expect(await check(new Model('idle', () => []), { fine: always(() => true) }, { executions: 5 })).toMatchObject({
      verdict: 'undetermined',
      message: 'nothing can happen after the start: no call, message or timer is enabled, so nothing was executed',
    })
  })

  it('where a local search did not begin', async () => {
    const handlers = paxos({ leaders: ['n1'] })
    const options = { search: 'local', nodes: nodesOf(handlers) } as const
    const { verdict, message, coverage } = await check(
      new HandlerSystem(handlers),
      { agreement },
      { ...options, executions: 2 },
    )
    expect(coverage.local).toMatchObject({ transitions: 0, localStates: 0 })
    expect(verdict).toBe('undetermined')
    expect(message).toMatch(/^the local search did not begin: no violation in 2 executions/)
  })
})
