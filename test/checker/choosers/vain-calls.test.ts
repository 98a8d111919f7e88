import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { CallResults, callAt, withoutVainCalls } from '../../../checker/choosers/vain-calls.ts'
import { always } from '../../../checker/system/property.ts'
import type { Choice, Step } from '../../../checker/system/system.ts'
import { choiceOf, Model } from '../systems/model.ts'

const call: Choice = choiceOf({ kind: 'client', node: 'ann', label: 'client ann' })
const timer: Choice = choiceOf({ kind: 'timer', node: 'n1', label: 'n1 timer +1ms' })

test('where calls only ever failed, they are known to be vain; where one returned, they are not', () => {
  const results = new CallResults()
  const at = (situation: string, ...failed: readonly boolean[]) =>
    results.learn(failed.map(each => ({ where: callAt(call, situation), failed: each })))
  at('no leader', true, true, true)
  at('leader', true, true, false, true)
  expect(results.vain).toEqual([])
  at('no leader', true)
  at('leader', true)
  expect(results.vain).toEqual(['client ann no leader'])
  const vain = new Set(results.vain)
  expect(withoutVainCalls([call, timer], () => 'no leader', vain)).toEqual([timer])
  expect(withoutVainCalls([call, timer], () => 'leader', vain)).toEqual([call, timer])
  expect(withoutVainCalls([call, timer], () => undefined, vain)).toEqual([call, timer])
  // Nothing else can happen.
  expect(withoutVainCalls([call], () => 'no leader', vain)).toEqual([call])
})

/** A node becomes leader by its fifth timer. Until then it refuses what it is called for. */
interface Elected {
  readonly ticks: number
  readonly calls: number
  readonly done: number
}

class Election extends Model<Elected> {
  failed = 0
  #knows: boolean

  constructor(knows: boolean) {
    super({ ticks: 0, calls: 6, done: 0 }, state => [
      ...(state.calls > 0
        ? [{ kind: 'client' as const, node: 'ann', label: 'client ann', next: () => called(state) }]
        : []),
      ...(state.ticks < 9
        ? [
            {
              kind: 'timer' as const,
              node: 'n1',
              label: 'n1 timer +1ms',
              next: () => ({ ...state, ticks: state.ticks + 1 }),
            },
          ]
        : []),
    ])
    this.#knows = knows
  }

  situation() {
    return this.#knows ? `${this.state().ticks < 5 ? 'no ' : ''}leader` : undefined
  }

  override async execute(choice: Choice): Promise<Step> {
    const { done } = this.state()
    const step = await super.execute(choice)
    if (choice.kind !== 'client') return step
    const failed = this.state().done === done
    if (failed) this.failed += 1
    return { ...step, calls: [{ begun: this.state().ticks + 6 - this.state().calls, failed }] }
  }
}

const called = (state: Elected): Elected => ({
  ...state,
  calls: state.calls - 1,
  done: state.done + (state.ticks < 5 ? 0 : 1),
})

test('walks save their calls for where they succeed, so what takes all of them is found', async () => {
  const never = { allDone: always<Elected>(({ done }) => done < 6) }
  const run = async (knows: boolean) => {
    const system = new Election(knows)
    const { verdict, executions } = await check(system, never, { search: 'walk', executions: 60, seed: 3 })
    return { verdict, share: system.failed / executions }
  }
  const blind = await run(false)
  const learned = await run(true)
  expect(learned.verdict).toBe('violated')
  expect(learned.share).toBeLessThan(blind.share)
})
